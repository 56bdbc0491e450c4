/** What the code of the project imports, and how long its functions are, by the TypeScript parser. */
import { readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import ts from 'typescript'

export type Import = {
  /** The imported file, from the root of the project. */
  to: string
  /** Nothing of it is loaded at run time. */
  isType: boolean
  /** It is loaded when the code runs, not before. */
  isLazy: boolean
}

const sources = new Map<string, ts.SourceFile>()

function parse(file: string): ts.SourceFile {
  const source =
    sources.get(file) ?? ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true)
  sources.set(file, source)
  return source
}

function visit(node: ts.Node, onNode: (node: ts.Node) => void): void {
  onNode(node)
  ts.forEachChild(node, (child) => visit(child, onNode))
}

/** The imports of files of the project, by relative paths. */
export function importsOf(file: string): Import[] {
  const imports: Import[] = []
  const add = (specifier: ts.Node | undefined, isType: boolean, isLazy = false) => {
    if (specifier && ts.isStringLiteral(specifier) && specifier.text.startsWith('.'))
      imports.push({ to: relative('.', join(dirname(file), specifier.text)), isType, isLazy })
  }
  visit(parse(file), (node) => {
    if (ts.isImportDeclaration(node)) add(node.moduleSpecifier, isTypeOnly(node.importClause))
    else if (ts.isExportDeclaration(node)) add(node.moduleSpecifier, node.isTypeOnly)
    else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument))
      add(node.argument.literal, true)
    else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
      add(node.arguments[0], false, true)
  })
  return imports
}

function isTypeOnly(clause: ts.ImportClause | undefined): boolean {
  if (!clause) return false
  if (clause.phaseModifier === ts.SyntaxKind.TypeKeyword) return true
  const bindings = clause.namedBindings
  return (
    !clause.name &&
    bindings !== undefined &&
    ts.isNamedImports(bindings) &&
    bindings.elements.every((element) => element.isTypeOnly)
  )
}

/**
 * The functions of a file with more than `maxLines` lines. The lines of a function inside another one count
 * for the inner one only. A function that only returns a literal is a table, and has no limit.
 */
export function longFunctions(file: string, maxLines: number): string[] {
  const source = parse(file)
  const found: string[] = []
  const lineOf = (position: number) => source.getLineAndCharacterOfPosition(position).line + 1
  const linesOf = (node: ts.Node) => lineOf(node.getEnd()) - lineOf(node.getStart(source)) + 1
  /** Returns the lines of the functions in a node. */
  const measure = (node: ts.Node): number => {
    let inner = 0
    ts.forEachChild(node, (child) => void (inner += measure(child)))
    if (!ts.isFunctionLike(node) || !('body' in node) || !node.body) return inner
    const lines = linesOf(node)
    if (lines - inner > maxLines && !isTable(node.body))
      found.push(`${file}:${lineOf(node.getStart(source))} has ${lines - inner} lines`)
    // A function in one line shares the line with the outer one.
    return lines > 1 ? lines : 0
  }
  measure(source)
  return found
}

function isTable(body: ts.Node): boolean {
  const value =
    ts.isBlock(body) && body.statements.length === 1 && ts.isReturnStatement(body.statements[0]!)
      ? body.statements[0].expression
      : body
  if (!value) return false
  const inner = ts.isParenthesizedExpression(value) ? value.expression : value
  return ts.isObjectLiteralExpression(inner) || ts.isArrayLiteralExpression(inner)
}

/** Chains of imports that lead back to their first file. Each file is in one chain at most. */
export function findCycles(files: readonly string[], importsOfFile: (file: string) => string[]): string[][] {
  const cycles: string[][] = []
  const done = new Set<string>()
  const follow = (file: string, path: string[]): void => {
    const index = path.indexOf(file)
    if (index >= 0) return void cycles.push([...path.slice(index), file])
    if (done.has(file)) return
    for (const next of importsOfFile(file)) follow(next, [...path, file])
    done.add(file)
  }
  for (const file of files) follow(file, [])
  return cycles
}

/**
 * How many agents the tests of a file start with settings that an agent of the file could have. Agents whose
 * variables a test makes, second ones beside the shared agent, and agents from the sources
 * (`agent-from-sources.ts`) do not count.
 */
export function agentsInTests(file: string): number {
  if (!/\bstartAgent\b/.test(readFileSync(file, 'utf8'))) return 0
  let count = 0
  let isOfSources = false
  visit(parse(file), (node) => {
    if (ts.isImportDeclaration(node))
      isOfSources ||= /agent-from-sources/.test(node.moduleSpecifier.getText())
    const isStart = ts.isIdentifier(node) && node.text === 'startAgent' && !ts.isImportSpecifier(node.parent)
    if (isStart && isInTest(node) && !hasOwnVariables(node.parent)) count++
  })
  return isOfSources ? 0 : count
}

function isInTest(node: ts.Node): boolean {
  for (let each = node.parent; !ts.isSourceFile(each); each = each.parent)
    if (ts.isCallExpression(each) && /^test\b/.test(each.expression.getText()))
      return !/\bsharedAgent\b/.test(each.getText())
  return false
}

/** Whether a call of `startAgent` has arguments that are more than texts. */
function hasOwnVariables(call: ts.Node): boolean {
  if (!ts.isCallExpression(call) || call.expression.getText() !== 'startAgent') return false
  const isText = (property: ts.ObjectLiteralElementLike) =>
    ts.isPropertyAssignment(property) && ts.isStringLiteralLike(property.initializer)
  const [variables, ...more] = call.arguments
  const areTexts =
    variables === undefined || (ts.isObjectLiteralExpression(variables) && variables.properties.every(isText))
  return more.length > 0 || !areTexts
}

/**
 * The texts in the code of a file, and what each is compared with. Comments are not among them, nor the
 * examples of a command.
 */
export function textsOf(file: string): { text: string; comparedWith: string | undefined }[] {
  const texts: { text: string; comparedWith: string | undefined }[] = []
  const follow = (node: ts.Node): void => {
    if (ts.isPropertyAssignment(node) && node.name.getText() === 'examples') return
    if (
      ts.isStringLiteralLike(node) ||
      ts.isRegularExpressionLiteral(node) ||
      ts.isTemplateHead(node) ||
      ts.isTemplateMiddleOrTemplateTail(node) ||
      ts.isJsxText(node)
    )
      texts.push({ text: node.text, comparedWith: otherSide(node) })
    ts.forEachChild(node, follow)
  }
  follow(parse(file))
  return texts
}

/**
 * The names among `names` that the code of a file writes as a text or as a member. The `typ` of a JWT is a
 * media type, and is not among them.
 */
export function namesIn(file: string, names: readonly string[]): string[] {
  const found: string[] = []
  const follow = (node: ts.Node): void => {
    const isMember =
      ts.isIdentifier(node) &&
      (ts.isPropertyAccessExpression(node.parent) || ts.isPropertyAssignment(node.parent)) &&
      node.parent.name === node
    if ((ts.isStringLiteralLike(node) || isMember) && names.includes(node.text) && !isMediaType(node))
      found.push(node.text)
    ts.forEachChild(node, follow)
  }
  follow(parse(file))
  return found
}

function isMediaType({ parent }: ts.Node): boolean {
  if (ts.isCallExpression(parent)) return parent.expression.getText() === 'isMediaType'
  return ts.isPropertyAssignment(parent) && parent.name.getText() === 'typ'
}

function otherSide(node: ts.Node): string | undefined {
  const { parent } = node
  if (!ts.isBinaryExpression(parent) || !/^[!=]==?$/.test(parent.operatorToken.getText())) return undefined
  return (parent.left === node ? parent.right : parent.left).getText()
}
