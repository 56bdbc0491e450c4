/** Which commands call which operations of the HTTP API, read off their code. */
import { readFileSync, readdirSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const folder = fileURLToPath(new URL('../../commands', import.meta.url))

/** Every command opens its calls through this file, which itself calls nothing that all of them do. */
const base = join(folder, '_base.ts')

/** What is called under another name: the methods of `_base.ts` that read the stream of events. */
const throughBase = new Map([
  ['openEvents', 'GET /events/stream'],
  ['waiting', 'GET /events/stream'],
])

/** Operations by command, as oclif names them (`credential:offer`): those of its file and of the files it is made of. */
export function operationsOfCommands(): Map<string, Set<string>> {
  return new Map(
    commandIds().map((id) => [id, operationsOf(join(folder, `${id.replaceAll(':', '/')}.ts`), new Set())]),
  )
}

/** The commands that there are files of. */
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

/** The operations that a file names where it runs, not in its types; and the files of the command line that it needs to run. */
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
    const streamed = ts.isPropertyAccessExpression(node) ? throughBase.get(node.name.text) : undefined
    if (streamed !== undefined) keys.push(streamed)
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.ESNext))
  const found = { keys, imports: imports.filter((each) => each.startsWith(`${folder}/`) && each !== base) }
  known.set(file, found)
  return found
}
