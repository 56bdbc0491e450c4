/** Reads from the code which operations of the HTTP API each command calls. */
import { readFileSync, readdirSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = join(root, 'commands')

/** Files that serve all commands. Their own calls are not those of a command. */
const common = ['define-command', 'list-command', 'remove-command', 'wait'].map((name) =>
  join(root, `cli/${name}.ts`),
)

/** True for files of which a command is made: those directly in `cli`, and those that call the daemon for it. */
const isPart = (file: string) =>
  !common.includes(file) && (dirname(file) === join(root, 'cli') || file === join(root, 'cli/client/ping.ts'))

/** Functions that read the event stream. */
const streaming = ['openEvents', 'changeRecord']

/** The operations of every command, by its id (`credential:offer`): those of its file and of the shared files it imports. */
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

/** The operations that the code of a file names, without those in types; and the shared files that it imports. */
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
