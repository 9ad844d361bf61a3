/**
 * Readable session ids: `amber-otter-7k3f`.
 *
 * @module
 */

const QUALITIES =
  "agile amber azure bold brave brisk calm clear coral crisp deft eager fair fleet fond fresh glad gold grand green happy hardy ivory jade jolly keen kind lively lucky lunar mellow merry mild misty neat noble olive pearl plain plucky polar prime proud quick quiet rapid ready royal rustic sage sandy sharp silver sleek smart snowy solar spry steady sturdy sunny swift tidal tidy vivid warm"
    .split(" ");
const ANIMALS =
  "badger bear beaver bison bobcat camel cobra condor cougar coyote crane deer dingo dolphin eagle egret falcon ferret finch fox gecko gibbon hare hawk heron ibex jackal jaguar kestrel koala lark lemur leopard lion lizard llama lynx macaw marlin marmot marten mole moose newt ocelot orca osprey otter owl panda parrot pelican puffin puma quail raven robin salmon seal shark sparrow stork swan tapir tiger toad viper walrus weasel wolf wombat yak zebra"
    .split(" ");
const DIGITS = "23456789abcdefghjkmnpqrstuvwxyz"; // none that is mistaken for another when read or typed

/** Random bytes one id takes. */
const ID_BYTES = 6;

/**
 * Makes an id that has not been used before. About 4 × 10^9 are possible.
 *
 * @param randomBytes the source of randomness
 * @param used whether an id has ever been given out
 */
export function newSessionId(randomBytes: (count: number) => Uint8Array, used: (id: string) => boolean): string {
  for (;;) {
    const bytes = randomBytes(ID_BYTES);
    let id = `${pick(QUALITIES, bytes[0])}-${pick(ANIMALS, bytes[1])}-`;
    for (let index = 2; index < ID_BYTES; index++) id += pick(DIGITS, bytes[index]);
    if (!used(id)) return id;
  }
}

function pick(from: ArrayLike<string>, byte = 0): string {
  return from[byte % from.length] as string;
}
