/**
 * Writes the declarations of the package's exports, `dist/client.d.ts` and `dist/index.d.ts` (`npm run
 * declarations`). They are complete: the types that follow from the routes are printed as plain TypeScript,
 * with the names and descriptions of the schemas.
 */
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { format } from 'prettier'
import ts from 'typescript'
import { routes } from '../../daemon/routes/index.ts'
import { describeRoute, setName } from './describe.ts'
import { createPrinter, type Described } from './printer.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const entries = ['library/client/index.ts', 'library/in-process/index.ts'].map((file) => root + file)

const config = ts.getParsedCommandLineOfConfigFile(
  `${root}tsconfig.json`,
  {},
  {
    ...ts.sys,
    onUnRecoverableConfigFileDiagnostic(diagnostic) {
      throw new Error(ts.flattenDiagnosticMessageText(diagnostic.messageText, '\n'))
    },
  },
)!
const { tsBuildInfoFile: _, ...options } = config.options
const program = ts.createProgram(entries, {
  ...options,
  incremental: false,
  // The printed types are for programs without this option as well.
  exactOptionalPropertyTypes: false,
  noEmit: false,
  declaration: true,
  emitDeclarationOnly: true,
})
const checker = program.getTypeChecker()

const sourceOf = (file: string) => program.getSourceFile(root + file)!
const exportsOf = (file: string) =>
  new Map(
    checker
      .getExportsOfModule(checker.getSymbolAtLocation(sourceOf(file))!)
      .map((symbol) => [symbol.name, symbol]),
  )

/** The declarations of a file without imports and exports of others; only those with `names`, if given. */
function declarationsOf(file: string, names?: readonly string[]): string {
  let text = ''
  program.emit(sourceOf(file), (_name, content) => (text = content), undefined, true)
  const parsed = ts.createSourceFile('emitted.d.ts', text, ts.ScriptTarget.Latest, true)
  return parsed.statements
    .filter((statement) => {
      if (ts.isImportDeclaration(statement) || ts.isExportDeclaration(statement)) return false
      const name = (statement as { name?: ts.Identifier }).name?.text
      if (ts.isFunctionDeclaration(statement)) return isPublic(name)
      return names === undefined ? name !== undefined || isExported(statement) : names.includes(name ?? '')
    })
    .map((statement) => withoutHead(statement, parsed))
    .join('\n')
}

const isPublic = (name = '') => entries.some((entry) => exportsOf(entry.slice(root.length)).has(name))

const isExported = (statement: ts.Statement) =>
  ts.canHaveModifiers(statement) &&
  ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true

/** A statement and its own comment: the first one of a file has the comment of the file before it. */
function withoutHead(statement: ts.Statement, parsed: ts.SourceFile): string {
  const comments = ts.getLeadingCommentRanges(parsed.text, statement.getFullStart()) ?? []
  return parsed.text.slice(comments.at(-1)?.pos ?? statement.getStart(), statement.end)
}

const typeOf = (file: string, name: string) => checker.getDeclaredTypeOfSymbol(exportsOf(file).get(name)!)

/** The types of the endpoints. Names of the client are not available for them. */
function writeEndpoints(): string {
  const file = 'library/client/endpoints.ts'
  const described: Described = { names: new Map(), types: new Map(), docs: new Map() }
  const printer = createPrinter(checker, described)
  const [inputs, replies] = ['Inputs', 'Replies'].map(
    (name) => new Map(printer.propertiesOf(typeOf(file, name)).map((each) => [each.name, each.type])),
  ) as [Map<string, ts.Type>, Map<string, ts.Type>]
  const reserved = new Set([
    ...exportsOf('library/client/index.ts').keys(),
    ...exportsOf(file).keys(),
    'Fetch',
    'Signal',
    'Error',
    'Record',
    'Promise',
  ])
  const named = routes.filter(({ key }) => inputs.has(key))
  const finder = { checker, printer, described, reserved }
  for (const { name, type } of printer.propertiesOf(typeOf(file, 'RecordStates')))
    setName(finder, type, name.replace(/Updated$/, 'State'), '')
  for (const route of named) describeRoute(finder, route, replies.get(route.key)!, inputs.get(route.key)!)
  const table = (name: string, types: Map<string, ts.Type>) => {
    const rows = named.map(
      ({ key, contract }) =>
        `/** ${contract.summary}. */\n${JSON.stringify(key)}: ${nameOr(types.get(key)!)}`,
    )
    return `export interface ${name} {\n${rows.join(';\n')}\n}`
  }
  const nameOr = (type: ts.Type) => described.names.get(printer.text(type)) ?? printer.print(type)
  const tables = [table('Inputs', inputs), table('Replies', replies)]
  const events = ['EventData', 'RecordStates'].map((name) => {
    const rows = printer.propertiesOf(typeOf(file, name)).map((each) => `${each.name}: ${nameOr(each.type)}`)
    return `export interface ${name} {\n${rows.join(';\n')}\n}`
  })
  const types = [...described.names].map(
    ([text, name]) => `export type ${name} = ${printer.print(described.types.get(text)!)}`,
  )
  const recursive = [...printer.recursive].map(
    ([name, type]) => `export type ${name} = ${printer.print(type)}`,
  )
  return [...recursive, ...types, ...tables, ...events].join('\n\n')
}

const client = [
  '/** A client of identity-agent for Node.js and browsers. */',
  declarationsOf('daemon/client/call.ts', ['ProblemBody', 'ProblemError']),
  ...['deadline', 'errors', 'client', 'events', 'wait-for', 'verify-webhook'].map((name) =>
    declarationsOf(`library/client/${name}.ts`, name === 'deadline' ? ['Signal'] : undefined),
  ),
  writeEndpoints(),
  'export {}',
]

const inProcess = 'daemon/server/in-process.ts'
const plain = createPrinter(checker, { names: new Map(), types: new Map(), docs: new Map() })
const agent = [
  '/// <reference lib="esnext.disposable" />',
  '/** Agents of identity-agent in the process of a program. */',
  "import type { Client } from './client.js'",
  'export type { Client }',
  declarationsOf('src/foundation/start-error.ts'),
  ...['Setting', 'LogLevel'].map((name) => `export type ${name} = ${plain.text(typeOf(inProcess, name))}`),
  declarationsOf(inProcess, ['InProcessOptions']),
  declarationsOf('library/in-process/index.ts'),
  'export {}',
]

for (const [name, parts] of Object.entries({ client, index: agent })) {
  const text = await format(parts.join('\n\n'), {
    parser: 'typescript',
    semi: false,
    singleQuote: true,
    printWidth: 110,
  })
  writeFileSync(`${root}dist/${name}.d.ts`, text)
}

/** Types of endpoints and events that are not the same as before they were printed. */
const check = `import type { EventData, Inputs, RecordStates, Replies } from './endpoints.ts'
import type * as printed from '../../dist/client.js'
type IsSame<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false
type Differing<A, B> = {
  [K in keyof A | keyof B]: K extends keyof A & keyof B ? (IsSame<A[K], B[K]> extends true ? never : K) : K
}[keyof A | keyof B]
export type Differences =
  | Differing<Inputs, printed.Inputs>
  | Differing<Replies, printed.Replies>
  | Differing<EventData, printed.EventData>
  | Differing<RecordStates, printed.RecordStates>
`
const checkFile = `${root}library/client/_check.ts`
const host = ts.createCompilerHost(program.getCompilerOptions())
const getSourceFile = host.getSourceFile.bind(host)
const fileExists = host.fileExists.bind(host)
host.fileExists = (name) => name === checkFile || fileExists(name)
host.getSourceFile = (name, ...rest) =>
  name === checkFile
    ? ts.createSourceFile(name, check, ts.ScriptTarget.Latest)
    : (program.getSourceFile(name) ?? getSourceFile(name, ...rest))
const checked = ts.createProgram([checkFile], program.getCompilerOptions(), host, program)
const source = checked.getSourceFile(checkFile)!
const fault = checked.getSemanticDiagnostics(source)[0]
if (fault) throw new Error(ts.flattenDiagnosticMessageText(fault.messageText, '\n'))
const second = checked.getTypeChecker()
const [differences] = second.getExportsOfModule(second.getSymbolAtLocation(source)!)
const type = second.getDeclaredTypeOfSymbol(differences!)
if ((type.flags & ts.TypeFlags.Never) === 0)
  throw new Error(
    `These types were not printed exactly: ${second.typeToString(type, undefined, ts.TypeFormatFlags.InTypeAlias)}`,
  )
