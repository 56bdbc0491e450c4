/** Finds in the code the HTTP API operations that each command calls. */
import { readFileSync, readdirSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = join(root, 'commands')

/** Files shared by all commands. Their calls do not count for a single command. */
const common = ['define-command', 'list-command', 'remove-command', 'wait'].map((name) =>
  join(root, `cli/${name}.ts`),
)

/**
 * True for files that implement commands: those directly in `cli`, and those that call the daemon for a
 * command.
 */
const isPart = (file: string) =>
  !common.includes(file) && (dirname(file) === join(root, 'cli') || file === join(root, 'cli/client/ping.ts'))

/** Functions that read the event stream. */
const streaming = ['openEvents', 'changeRecord', 'createRecord']

/**
 * The operations of every command by id (`credential:offer`): those in its file and in the shared files that
 * it imports.
 */
export function operationsOfCommands(): Map<string, Set<string>> {
  return new Map(
    commandIds().map((id) => [id, operationsOf(join(folder, `${id.replaceAll(':', '/')}.ts`), new Set())]),
  )
}

/** The ids of all commands, from the names of their files. */
export function commandIds(): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => file.endsWith('.ts') && !/(?:^|\/)_/.test(file))
    .map((file) => file.slice(0, -'.ts'.length).replaceAll('/', ':'))
    .toSorted()
}

function operationsOf(file: string, seen: Set<string>): Set<string> {
  if (seen.has(file)) return new Set()
  seen.add(file)
  const { keys, imports } = read(file)
  return new Set([...keys, ...imports.flatMap((each) => [...operationsOf(each, seen)])])
}

const known = new Map<string, { keys: string[]; imports: string[] }>()

/** The operations named in a file, except in types, and the shared files that it imports. */
function read(file: string): { keys: string[]; imports: string[] } {
  const before = known.get(file)
  if (before) return before
  const keys: string[] = []
  const imports: string[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isLiteralTypeNode(node)) return
    if (ts.isImportDeclaration(node) && node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword) return
    if (ts.isStringLiteral(node)) {
      if (/^(?:GET|POST|PUT|PATCH|DELETE) \//.test(node.text)) keys.push(node.text)
      if (/^\.\.?\/.*\.tsx?$/.test(node.text)) imports.push(resolve(dirname(file), node.text))
    }
    if (ts.isIdentifier(node) && streaming.includes(node.text)) keys.push('GET /events/stream')
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.ESNext))
  const found = { keys, imports: imports.filter(isPart) }
  known.set(file, found)
  return found
}
