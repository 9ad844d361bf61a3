/**
 * What a sandboxed command gets of the machine, as the arguments of bwrap(1). Pure: what the machine has is given.
 *
 * @module
 */

/** A part of the host that commands see. */
export interface Bind {
  /** Where it is on the host. */
  readonly from: string;
  /** Where commands see it. */
  readonly to: string;
  /** Whether they may change it. */
  readonly writable: boolean;
}

/** A symbolic link of the host's root that commands see too, such as `/bin`. */
export interface Link {
  /** Where it is. */
  readonly path: string;
  /** What is written in it. */
  readonly target: string;
}

/** What there is in the sandbox. */
export interface Scene {
  /** The host's system directories, read-only. */
  readonly system: readonly (Bind | Link)[];
  /** Workspace and what else was asked for; the innermost has the last word. */
  readonly binds: readonly Bind[];
  /** The name under which the workspace was given, if that is a symbolic link. */
  readonly links: readonly Link[];
  /** Whether commands share the host's network. */
  readonly network: boolean;
}

/** What the arguments depend on. */
export interface Policy extends Scene {
  /** Whether this bwrap can forbid the command further user namespaces (0.8.0 and newer). */
  readonly forbidsNamespaces: boolean;
}

/** System directories: programs and libraries. Those that are symbolic links into `/usr` stay that. */
export const SYSTEM_DIRECTORIES: readonly string[] = [
  ...["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"],
];

/**
 * Files of `/etc` that programs do not run well without, none of them secret: names of users, the loader's cache, what
 * Debian's programs are links to, the time zone, certificates without their keys.
 */
export const SYSTEM_FILES: readonly string[] = [
  ...["passwd", "group", "nsswitch.conf", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "localtime"],
  ...["os-release", "ca-certificates", "ssl/certs", "ssl/openssl.cnf", "pki/tls/certs", "pki/ca-trust/extracted"],
  ...["crypto-policies"],
].map((name) => `/etc/${name}`);

/** Files of `/etc` that are of use only with a network. */
export const NETWORK_FILES: readonly string[] = [
  "hosts",
  "resolv.conf",
  "host.conf",
  "gai.conf",
  "services",
  "protocols",
]
  .map((name) => `/etc/${name}`);

/** Directories that the sandbox has of its own, empty but for what the kernel shows there. */
export const OWN_DIRECTORIES: readonly string[] = ["/", "/tmp", "/proc", "/dev", "/etc", "/run", "/var", "/var/tmp"];

/**
 * Parts of `/proc` by which root could change the whole machine. bwrap takes those for read-only whose directory may not
 * be written to, but root may write to the files in it, also without any capability.
 */
const KERNEL_CONTROLS: readonly string[] = ["sys", "sysrq-trigger", "irq", "bus", "fs"].map((name) => `/proc/${name}`);

/**
 * The arguments of bwrap, up to the command.
 *
 * @param policy what commands get
 * @param cwd where the command runs, as it sees it
 * @param inTerminal whether it has a terminal; without one it gets a session of its own, so that it has none to control
 */
export function bwrapArguments(policy: Policy, cwd: string, inTerminal: boolean): readonly string[] {
  return [
    ...["--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"],
    ...(policy.network ? [] : ["--unshare-net"]),
    ...(policy.forbidsNamespaces ? ["--disable-userns"] : []),
    ...["--cap-drop", "ALL", "--die-with-parent"],
    ...(inTerminal ? [] : ["--new-session"]),
    ...policy.system.flatMap((entry) => "target" in entry ? linkArguments(entry) : bindArguments(entry)),
    ...["--proc", "/proc"],
    ...KERNEL_CONTROLS.flatMap((path) => ["--ro-bind-try", path, path]),
    ...["--dev", "/dev", "--tmpfs", "/tmp", "--dir", "/run", "--dir", "/var/tmp"],
    ...[...policy.binds].sort((one, other) => depth(one.to) - depth(other.to)).flatMap(bindArguments),
    ...policy.links.flatMap(linkArguments),
    ...["--chdir", cwd, "--"],
  ];
}

function bindArguments({ from, to, writable }: Bind): readonly string[] {
  return [writable ? "--bind" : "--ro-bind", from, to];
}

function linkArguments({ path, target }: Link): readonly string[] {
  return ["--symlink", target, path];
}

function depth(path: string): number {
  return path.split("/").filter((part) => part !== "").length;
}
