/**
 * The declarations of the exports in projects that have installed nothing but the package: strict, with every
 * check of libraries, and with both ways to find modules. `npm run declarations` writes them, and compares
 * them with the types that they were printed from.
 */
import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { expect, test } from 'vitest'
import { built } from '../support/built.ts'
import { newFolder } from '../support/folder.ts'
import { read, readBlocks } from '../support/pages.ts'
import { dist } from './_library.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** A program that uses every export, and mistakes that must not compile. */
const program = `
import { createClient, events, verifyWebhook, waitFor, ProblemError, type AgentEvent, type Reply } from 'identity-agent/client'
const client = createClient('http://127.0.0.1:8085', { apiKey: 'a-key', timeoutMs: 5_000 })
export async function run(signal: AbortSignal): Promise<string> {
  const made = await client('POST /connections', { body: { label: 'Alice' }, signal, timeoutMs: 1_000 })
  await client('POST /connections')
  const page: Reply<'GET /connections'> = await client('GET /connections', { query: { limit: 5 } })
  const state: 'ConnectionResponseSent' = (await waitFor(client, made, 'ConnectionResponseSent', { signal })).state
  const { status } = await waitFor(client, { presentationId: 'x' }, ['PresentationVerified', 'PresentationVerificationFailed'])
  const verified: 'PresentationVerified' | 'PresentationVerificationFailed' = status
  const offer = await waitFor(client, { type: 'IssueCredentialRecordUpdated', thid: made.thid }, 'OfferReceived')
  for await (const event of events(client, { type: 'IssueCredentialRecordUpdated', signal })) {
    if (event.data.test) continue
    const recordId: string = event.data.recordId
    if (recordId === offer.recordId) break
  }
  for await (const event of events(client)) if (event.type === 'ConnectionUpdated' && event.data.state === 'ConnectionRequestSent') break
  const event: AgentEvent = await verifyWebhook(new Headers(), new Uint8Array(), ['whsec_'])
  const gone: void = await client('DELETE /connections/{connectionId}', { path: made })
  // @ts-expect-error an endpoint that does not exist
  await client('GET /connection')
  // @ts-expect-error a path without its parameter
  await client('GET /connections/{connectionId}')
  // @ts-expect-error a body with a member of another type
  await client('POST /connections', { body: { label: 5 } })
  // @ts-expect-error a state of another kind of record
  await waitFor(client, made, 'CredentialSent')
  // @ts-expect-error a record without an id
  await waitFor(client, {}, 'ConnectionResponseSent')
  // @ts-expect-error an event that does not exist
  events(client, { type: 'ConnectionDeleted' })
  // @ts-expect-error a member that the reply does not have
  page.connections
  // @ts-expect-error data that may be that of a test event
  event.data.thid.length
  return [state, verified, page.contents[0]?.connectionId, gone, ProblemError.name].join()
}
`
const inProcess = `
import { createAgent, StartError, type RunningAgent } from 'identity-agent'
import { waitFor } from 'identity-agent/client'
export async function start(): Promise<void> {
  await using agent: RunningAgent = await createAgent({ settings: { EVENT_RETENTION: '1h', AGENT_MEDIATOR: true } })
  const made = await agent.client('POST /connections')
  const { client } = await agent.newTenant('alice')
  await waitFor(client, made, 'InvitationGenerated')
  // @ts-expect-error a setting that does not exist
  await createAgent({ settings: { EVENT_RETENTON: '1h' } })
  if (made.label === undefined) throw new StartError('wrong', 1)
}
`

/** Without DOM and without the types of Node.js, the client compiles too. */
const bare = `
import { createClient, events, waitFor } from 'identity-agent/client'
const client = createClient('http://127.0.0.1:8085')
export const reached = waitFor(client, { connectionId: 'x' }, 'ConnectionResponseSent', { timeoutMs: 5 })
export const stream = events(client)
`

/** The blocks of the pages in TypeScript. */
const pages = ['docs/reference/client.md']
const examples = Object.fromEntries(
  pages.flatMap((page) =>
    readBlocks(read(page))
      .blocks.filter(({ language }) => language === 'ts')
      .map(({ line, text }) => [`${page.replaceAll(/\W/g, '-')}-${line}.ts`, `${text}\nexport {}\n`]),
  ),
)

const parsed = new Map<string, ts.SourceFile | undefined>()

/** Compiles files in a project that has only this package. Returns the faults. */
function compile(files: Record<string, string>, options: ts.CompilerOptions): string[] {
  if (!existsSync(`${dist}client.d.ts`))
    execFileSync('npm', ['run', 'declarations', '--silent'], { cwd: root, stdio: 'inherit' })
  const folder = newFolder()
  const installed = join(folder, 'node_modules', 'identity-agent')
  for (const file of ['package.json', 'dist/client.d.ts', 'dist/index.d.ts']) {
    mkdirSync(dirname(join(installed, file)), { recursive: true })
    copyFileSync(`${root}${file}`, join(installed, file))
  }
  for (const [name, text] of Object.entries({ 'package.json': '{"type":"module"}', ...files }))
    writeFileSync(join(folder, name), text)
  const all = {
    strict: true,
    noEmit: true,
    skipLibCheck: false,
    // The libraries of TypeScript itself are not what is tested.
    skipDefaultLibCheck: true,
    types: [],
    target: ts.ScriptTarget.ES2022,
    ...options,
  }
  const host = ts.createCompilerHost(all)
  const getSourceFile = host.getSourceFile.bind(host)
  // The libraries are parsed once for all projects.
  host.getSourceFile = (name, ...rest) => {
    if (name.startsWith(folder)) return getSourceFile(name, ...rest)
    if (!parsed.has(name)) parsed.set(name, getSourceFile(name, ...rest))
    return parsed.get(name)
  }
  host.getCurrentDirectory = () => folder
  const names = Object.keys(files).map((name) => join(folder, name))
  return ts.getPreEmitDiagnostics(ts.createProgram(names, all, host)).map(({ file, start, messageText }) => {
    const line = file && ts.getLineAndCharacterOfPosition(file, start!).line + 1
    return `${file?.fileName.slice(folder.length)}:${line} ${ts.flattenDiagnosticMessageText(messageText, '\n')}`
  })
}

/** The first compilation parses all declarations, which takes two minutes on a busy machine. */
const firstLimitMs = 600_000

test('with the module resolution of bundlers, and DOM', { timeout: firstLimitMs }, () => {
  const files = { 'program.ts': program, 'in-process.ts': inProcess, ...examples }
  const options = {
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    lib: ['lib.es2022.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
    exactOptionalPropertyTypes: true,
  }
  expect(compile(files, options)).toEqual([])
})

test('with the module resolution of Node.js, and DOM', () => {
  const options = {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    lib: ['lib.es2022.d.ts', 'lib.dom.d.ts'],
  }
  expect(compile({ 'program.ts': program, 'in-process.ts': inProcess }, options)).toEqual([])
})

test('without DOM and without the types of Node.js', () => {
  const options = { module: ts.ModuleKind.Node16, lib: ['lib.es2022.d.ts'] }
  expect(compile({ 'bare.ts': bare }, options)).toEqual([])
})

test('the declarations import nothing else, and have the endpoints of the agent', () => {
  const text = readFileSync(`${dist}client.d.ts`, 'utf8')
  expect(text).not.toMatch(/^\s*import\b|\bimport\(/m)
  expect(readFileSync(`${dist}index.d.ts`, 'utf8').match(/from '[^']+'/g)).toEqual(["from './client.js'"])
  const isCall = ({ contract }: (typeof built.routes)[number]) => {
    const { media, stream } = contract as { media?: readonly string[]; stream?: object }
    return stream === undefined && (media?.some((each) => each.includes('json')) ?? true)
  }
  const [, replies] = text.split('export interface Replies {')
  const declared = [...replies!.matchAll(/^ {2}'([A-Z]+ \/[^']*)':/gm)].map(([, key]) => key!)
  const keys = built.routes.filter(isCall).map(({ key }) => key)
  // `npm run declarations` writes them again.
  expect(declared.toSorted()).toEqual(keys.toSorted())
})
