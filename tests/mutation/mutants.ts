/**
 * Finds every place of a source file that can be broken, and writes the file once with all of its mutants in it: each
 * place asks at run time whether its mutant is the active one. So one process tries thousands of them without loading
 * anything again.
 *
 * Left alone are comments, types, imports, property names, regular expressions and the text of sentences: a string with
 * a space between words, the text of a template, every string of a file that holds nothing but wording.
 *
 * @module
 */

import {
  isArrayLiteralExpression,
  isArrowFunction,
  isAwaitExpression,
  isBinaryExpression,
  isBlock,
  isCallExpression,
  isCaseClause,
  isConditionalExpression,
  isConstructorDeclaration,
  isDoStatement,
  isExpressionStatement,
  isForStatement,
  isFunctionLikeDeclaration,
  isIfStatement,
  isNumericLiteral,
  isPostfixUnaryExpression,
  isPrefixUnaryExpression,
  isReturnStatement,
  isStringLiteral,
  isTryStatement,
  isTypeNode,
  isWhileStatement,
  type Node,
  type SourceFile,
  SyntaxKind,
} from "typescript/unstable/ast";

/** One way to break one place. */
export interface Mutant {
  /** What its place asks for. */
  readonly id: number;
  readonly file: string;
  /** Its line, 1-based; it moves when the file changes. */
  readonly row: number;
  /** Name of the function it is in; empty at the top. */
  readonly within: string;
  /** Text of the line. */
  readonly line: string;
  /** What it makes of what. */
  readonly change: string;
  /** Of several in that line that are the same so far, the how manieth it is, from 1. */
  readonly nth: number;
}

/** A file with mutants in it. */
export interface Mutated {
  readonly source: string;
  /** Those that were asked for; ids are counted over all there are. */
  readonly mutants: readonly Mutant[];
  /** How many there are. */
  readonly count: number;
}

/** Files whose strings are sentences, however short. */
const WORDING = /(?:^|\/)(?:wording|limit_words)\.ts$/;

/** What an operator becomes. */
const SWAPPED: ReadonlyMap<string, string> = new Map([
  ["&&", "||"],
  ["||", "&&"],
  ["<", "<="],
  ["<=", "<"],
  [">", ">="],
  [">=", ">"],
  ["===", "!=="],
  ["!==", "==="],
  ["+", "-"],
  ["-", "+"],
  ["+=", "-="],
  ["-=", "+="],
  ["++", "--"],
  ["--", "++"],
  ["??=", "="],
]);

/** Statements that can be left out. */
const DROPPED: ReadonlySet<SyntaxKind> = new Set([
  SyntaxKind.ExpressionStatement,
  SyntaxKind.ThrowStatement,
  SyntaxKind.BreakStatement,
  SyntaxKind.ContinueStatement,
]);

/** In these nothing runs, or it is not ours to change. */
const SKIPPED: ReadonlySet<SyntaxKind> = new Set([
  SyntaxKind.ImportDeclaration,
  SyntaxKind.ExportDeclaration,
  SyntaxKind.InterfaceDeclaration,
  SyntaxKind.TypeAliasDeclaration,
  SyntaxKind.TypeParameter,
  SyntaxKind.HeritageClause,
]);

/**
 * Finds and writes the mutants of a file.
 *
 * @param file its path from the root
 * @param tree its syntax
 * @param firstId the id of its first mutant
 * @param isWanted which mutants to write, by id
 */
export function mutate(
  file: string,
  tree: SourceFile,
  firstId = 0,
  isWanted: (id: number) => boolean = () => true,
): Mutated {
  const { text } = tree;
  const mutants: Mutant[] = [];
  const counts = new Map<string, number>();
  let id = firstId;

  function add(node: Node, becomes: string, code: string, write: (asks: string) => string): string {
    const start = node.getStart();
    const place = {
      file,
      row: text.slice(0, start).split("\n").length,
      within: nameAround(node),
      line: text.slice(text.lastIndexOf("\n", start - 1) + 1, text.indexOf("\n", start)).trim(),
      change: `${isBlock(node) ? "{" : short(node.getText())} → ${short(becomes)}`,
    };
    const alike = `${place.row} ${place.change}`;
    const nth = (counts.get(alike) ?? 0) + 1;
    counts.set(alike, nth);
    const mutant = { id: id++, ...place, nth };
    if (!isWanted(mutant.id)) return code;
    mutants.push(mutant);
    return write(`__isMutated(${mutant.id})`);
  }

  function write(node: Node): string {
    if (SKIPPED.has(node.kind) || isTypeNode(node)) return node.getText();
    let code = "";
    let at = node.getStart();
    node.forEachChild((child) => {
      code += text.slice(at, child.getStart()) + write(child);
      at = child.end;
    });
    code += text.slice(at, node.end);

    for (const becomes of expressionsFor(node, file)) {
      code = add(node, becomes, code, (asks) => `(${asks} ? ${becomes} : ${code})`);
    }
    if (isDroppable(node)) code = add(node, "(dropped)", code, (asks) => `{ if (!${asks}) ${code} }`);
    if (isWorthLeaving(node)) code = add(node, "{ return;", code, (asks) => `{ if (${asks}) return; ${code.slice(1)}`);
    return code;
  }

  const source = text.slice(0, tree.getStart()) + write(tree);
  return { source, mutants, count: id - firstId };
}

/** What may stand in place of an expression. */
function expressionsFor(node: Node, file: string): readonly string[] {
  const found = replacementsFor(node, file);
  const isNegated = node.kind === SyntaxKind.TrueKeyword || isEquation(node) || isNot(node);
  if (isCondition(node) && !isNegated) found.push(`!(${node.getText()})`);
  if (isResult(node)) found.push("undefined");
  return found;
}

function replacementsFor(node: Node, file: string): string[] {
  const own = node.getText();
  if (isBinaryExpression(node)) {
    const [left, operator, right] = [node.left.getText(), node.operatorToken.getText(), node.right.getText()];
    const swapped = SWAPPED.get(operator);
    if (operator === "??") return [left, right];
    return swapped === undefined ? [] : [`${left} ${swapped} ${right}`];
  }
  if (isPrefixUnaryExpression(node) || isPostfixUnaryExpression(node)) {
    if (isNot(node)) return [node.operand.getText()];
    const operator = /\+\+|--/.exec(own)?.[0] ?? "";
    const swapped = own.startsWith(operator) || own.endsWith(operator) ? SWAPPED.get(operator) : undefined;
    return swapped === undefined ? [] : [own.replace(operator, swapped)];
  }
  if (node.kind === SyntaxKind.TrueKeyword) return ["false"];
  if (node.kind === SyntaxKind.FalseKeyword) return ["true"];
  if (isNumericLiteral(node)) {
    if (isName(node)) return [];
    return Number(node.text) === 0 ? [`${own} + 1`] : [`${own} + 1`, `${own} - 1`];
  }
  if (isStringLiteral(node)) {
    const isSentence = node.text === "" || /\S \S/.test(node.text) || WORDING.test(file);
    return isSentence || isName(node) || isCompared(node) ? [] : ['""'];
  }
  if (isArrayLiteralExpression(node)) return node.elements.length === 0 || isAssigned(node) ? [] : ["[]"];
  if (isAwaitExpression(node)) {
    // A promise that is returned is awaited all the same
    const isLast = isReturnStatement(node.parent) || isArrowFunction(node.parent);
    return isLast && !isTried(node) ? [] : [node.expression.getText()];
  }
  return [];
}

function isNot(node: Node): boolean {
  return isPrefixUnaryExpression(node) && node.operator === SyntaxKind.ExclamationToken;
}

/** Whether `===` or `!==` stands there: its mutant is its negation. */
function isEquation(node: Node): boolean {
  return isBinaryExpression(node) && /^[!=]==$/.test(node.operatorToken.getText());
}

/** Whether a literal is the name of a property, or of what is imported. */
function isName(node: Node): boolean {
  const { parent } = node;
  if (isCallExpression(parent)) return parent.expression.kind === SyntaxKind.ImportKeyword;
  return "name" in parent && parent.name === node;
}

/** What a string is compared with has mutants of its own. */
function isCompared({ parent }: Node): boolean {
  return isCaseClause(parent) || isEquation(parent);
}

function isAssigned(node: Node): boolean {
  const { parent } = node;
  return isBinaryExpression(parent) && parent.operatorToken.kind === SyntaxKind.EqualsToken && parent.left === node;
}

function isTried(node: Node): boolean {
  for (let each = node; !isFunctionLikeDeclaration(each) && each.parent !== undefined; each = each.parent) {
    if (isTryStatement(each)) return true;
  }
  return false;
}

function isCondition(node: Node): boolean {
  const { parent } = node;
  if (parent === undefined) return false;
  if (isIfStatement(parent) || isWhileStatement(parent) || isDoStatement(parent)) return parent.expression === node;
  return (isConditionalExpression(parent) || isForStatement(parent)) && parent.condition === node;
}

/** Whether an expression is what a function returns, and `undefined` in its place says more than its other mutants. */
function isResult(node: Node): boolean {
  const { parent } = node;
  if (parent === undefined || /^(?:true|false|undefined)$/.test(node.getText())) return false;
  return isReturnStatement(parent) || isArrowFunction(parent) && parent.body === node && !isBlock(node);
}

function isDroppable(node: Node): boolean {
  const isSuperCall = isExpressionStatement(node) && isCallExpression(node.expression) &&
    node.expression.expression.kind === SyntaxKind.SuperKeyword;
  return DROPPED.has(node.kind) && !isSuperCall;
}

/** Whether a block is a function's, and leaving it at once says more than the mutants of its first statement. */
function isWorthLeaving(node: Node): boolean {
  if (!isBlock(node) || !isFunctionLikeDeclaration(node.parent) || isConstructorDeclaration(node.parent)) return false;
  const [first, ...others] = node.statements;
  if (first === undefined || isReturnStatement(first)) return false;
  return others.length > 0 || !DROPPED.has(first.kind);
}

function nameAround(node: Node): string {
  for (let each = node; each.parent !== undefined; each = each.parent) {
    const name = isFunctionLikeDeclaration(each) ? nameOf(each) ?? nameOf(each.parent) : undefined;
    if (name !== undefined) return name;
  }
  return "";
}

function nameOf(node: Node & { readonly name?: Node }): string | undefined {
  return node.name?.getText();
}

function short(text: string): string {
  const line = text.replaceAll(/\s+/g, " ");
  return line.length > 80 ? `${line.slice(0, 79)}…` : line;
}
