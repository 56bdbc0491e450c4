/** The shape of the code: imports point one way, files stay short. */
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { methodNames } from '../src/definitions/did-names.ts'
import { formatNames } from '../src/definitions/format-names.ts'
import { agentsInTests, findCycles, importsOf, longFunctions, namesIn, textsOf } from './support/code.ts'

/**
 * The folders in their order: a file imports from its own folder and from folders before it. Files that are
 * directly in a family (`src/wallet/wallet.ts`) are a folder of this list too (`src/wallet`).
 */
const order = `
  src/definitions
  src/foundation src/foundation/config src/foundation/crypto src/foundation/x509 src/foundation/cbor
  src/foundation/cose src/foundation/net
  src/foundation/storage src/foundation/oauth src/foundation/otel
  src/cluster
  src/did src/did/ledger
  src/credentials/codecs src/credentials/display src/credentials/dcql src/credentials/formats src/credentials/schemas src/credentials/anoncreds
  src/wallet/audit src/wallet/events src/wallet/outbox src/wallet src/wallet/bearer-tokens src/wallet/did-registrar
  src/wallet/vdr-entries src/wallet/issuer-certificates src/wallet/trust-anchors src/wallet/credential-status
  src/wallet/verification
  src/exchange/didcomm src/exchange/engine src/exchange/protocols src/exchange/issuance src/exchange/held-credentials
  src/exchange/presentation src/exchange/oid4vci src/exchange/oid4vp src/exchange/oid4vci-presentation src/exchange src/exchange/enterprise
  src/exchange/mediator
  src/operations src/operations/backup src/operations/wallet-export src/operations/trace src/operations/decode
  src/operations/doctor
  src/agent
  daemon/middleware daemon/http daemon/pages daemon/nodes daemon/routes daemon/server daemon
  daemon/client library/client library/in-process
  cli cli/tui commands
  build build/docs build/declarations bin
`
  .trim()
  .split(/\s+/)

/** Clients of the daemon speak HTTP with it. What they import of it is types, or needs no wallet. */
const clients: Record<string, string[]> = {
  'daemon/client': ['src/wallet/events', 'daemon/http', 'daemon/routes'],
  'library/client': ['src/definitions', 'daemon/client', 'daemon/http', 'daemon/routes'],
  cli: [
    'src/definitions',
    'src/foundation',
    'src/foundation/config',
    'src/foundation/crypto',
    'src/foundation/net',
    'src/credentials/dcql',
    'src/credentials/display',
    'src/operations/decode',
    'daemon/client',
  ],
  'cli/tui': ['src/definitions', 'src/foundation', 'src/credentials/dcql', 'daemon/client', 'cli'],
  commands: [
    'src/definitions',
    'src/foundation',
    'src/foundation/config',
    'src/credentials/dcql',
    'src/operations/decode',
    'daemon/client',
    'cli',
    'cli/tui',
    'package.json',
  ],
}

/** Generated code is as long as its source makes it. */
const generated = ['src/did/prism/prism_pb.ts']

const files = ['src', 'daemon', 'cli', 'commands', 'library', 'build', 'bin'].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(?:tsx?|js)$/.test(name))
    .map((name) => join(folder, name)),
)

const longestFirst = order.toSorted((a, b) => b.length - a.length)
/** The folder of the list that a file is in. */
const home = (file: string) => longestFirst.find((folder) => file.startsWith(`${folder}/`)) ?? file

/**
 * The definitions of protocols and events, and the names of credential formats and DID methods. Every folder
 * may import them.
 */
const isDefinition = (file: string) => home(file) === 'src/definitions'

const imports = (file: string) => importsOf(file).map(({ to }) => to)

test('definitions are pure data', () => {
  const importing = files.filter(
    (file) => isDefinition(file) && /from '(?!\.\/)/.test(readFileSync(file, 'utf8')),
  )
  expect(importing).toEqual([])
})

test('only the engine writes the state of a record', () => {
  const writers = files.filter((file) =>
    /(?:insertInto|updateTable)\('record'\)/.test(readFileSync(file, 'utf8')),
  )
  expect(writers.filter((file) => !file.startsWith('src/exchange/engine/'))).toEqual([])
  const stateWriters = writers.filter((file) => /\.set\(\{[^}]*\bstate\b/.test(readFileSync(file, 'utf8')))
  expect(stateWriters).toEqual(['src/exchange/engine/record.ts'])
})

test('imports point one way', () => {
  const wrong = files
    // Build scripts read what the build has written, and draw pictures with a browser of the tests.
    .filter((file) => !file.startsWith('build/'))
    .flatMap((file) => imports(file).map((to) => ({ file, to })))
    .filter(({ file, to }) => {
      const [from, target] = [home(file), home(to)]
      const known = clients[from]
      return from !== target && !(known ? known.includes(target) : isBefore(target, from))
    })
  expect(wrong.map(({ file, to }) => `${file} → ${to}`)).toEqual([])
})

function isBefore(folder: string, other: string): boolean {
  return order.includes(folder) && order.indexOf(folder) < order.indexOf(other)
}

test('no client may import what it does not need', () => {
  const used = new Set(files.flatMap((file) => imports(file).map((to) => `${home(file)} → ${home(to)}`)))
  const entries = Object.entries(clients).flatMap(([from, places]) => places.map((to) => `${from} → ${to}`))
  expect(entries.filter((entry) => !used.has(entry))).toEqual([])
})

test('src has nine families, and every folder is in the order', () => {
  expect(readdirSync('src').toSorted()).toEqual([...new Set(order.flatMap(familyOf))].toSorted())
  expect(files.filter((file) => home(file) === file)).toEqual([])
})

function familyOf(folder: string): string[] {
  return folder.startsWith('src/') ? [folder.split('/')[1]!] : []
}

test('the clients of the daemon import only types of the daemon', () => {
  const own = ['daemon/client', 'library/client']
  const loaded = files.filter((file) => own.includes(home(file))).flatMap(loadedBy)
  expect(loaded.filter((to) => !own.includes(home(to)) && !isDefinition(to))).toEqual([])
})

test('imports form no cycle at run time', () => {
  const loads = (file: string) =>
    files.includes(file)
      ? importsOf(file)
          .filter(({ isType, isLazy }) => !isType && !isLazy)
          .map(({ to }) => to)
      : []
  expect(findCycles(files, loads)).toEqual([])
})

test('the command line loads nothing of a wallet', () => {
  const loaded = new Set(files.filter((file) => /^(?:cli|commands)\//.test(file)))
  for (const file of loaded) if (files.includes(file)) for (const to of loadedBy(file)) loaded.add(to)
  const wrong =
    /^(?:src\/(?:foundation\/storage|cluster|did\/ledger|wallet|exchange\/(?!didcomm|oid4vci\/holder)|agent)|daemon\/(?!client))/
  expect([...loaded].filter((file) => wrong.test(file))).toEqual([])
})

/** What a file imports to run: values, now or later. */
function loadedBy(file: string): string[] {
  return importsOf(file).flatMap(({ to, isType }) => (isType ? [] : [to]))
}

/**
 * Files that name a DID method, outside the folders that have the methods. What differs between methods is in
 * their tables.
 */
test('at most 12 other files name a DID method', () => {
  const names = methodNames.join('|')
  const isDid = new RegExp(`\\bdid:(?:\\(\\?[:!])?(?:${names})\\b`)
  // These are words of other specifications too.
  const isWord = (name: string) => ['key', 'jwk', 'web'].includes(name)
  const isName = (text: string, comparedWith = '') =>
    methodNames.some((name) => name === text && (!isWord(name) || /method$/i.test(comparedWith)))
  const naming = files
    .filter((file) =>
      /^(?:src\/(?!did\/|wallet\/did-registrar\/|definitions\/did-names)|cli\/|commands\/)/.test(file),
    )
    .filter((file) =>
      textsOf(file).some(({ text, comparedWith }) => isDid.test(text) || isName(text, comparedWith)),
    )
  expect(
    naming.length,
    `ask src/definitions/did-names.ts instead:\n${naming.join('\n')}`,
  ).toBeLessThanOrEqual(12)
})

/**
 * Files that name a credential format, outside the folders of the formats. What differs between formats is in
 * their tables.
 */
test('at most 12 other files name a credential format', () => {
  const rows: { title: string; openid?: { id: string } }[] = Object.values(formatNames)
  const names = [
    ...Object.keys(formatNames),
    ...rows.flatMap(({ title, openid }) => [title, ...(openid ? [openid.id] : [])]),
  ]
  const naming = files
    .filter((file) =>
      /^(?:src\/(?!credentials\/(?:formats|codecs|anoncreds)\/|definitions\/format-names)|cli\/|commands\/)/.test(
        file,
      ),
    )
    .filter((file) => namesIn(file, names).length > 0)
  expect(
    naming.length,
    `ask src/definitions/format-names.ts instead:\n${naming.join('\n')}`,
  ).toBeLessThanOrEqual(12)
})

test('functions have at most 60 lines', () => {
  expect(files.flatMap((file) => longFunctions(file, 60))).toEqual([])
})

test('files hold whole concepts: at most 275 lines, 60 to 100 in the middle, few of less than 20', () => {
  const lengths = files
    .filter((file) => !generated.includes(file))
    .map((file) => ({ file, lines: readFileSync(file, 'utf8').split('\n').length - 1 }))
  // Released migrations never change, and others are added.
  const limited = lengths.filter(({ file }) => !/\/migrations(?:\/\w+)?\.ts$/.test(file))
  expect(limited.filter(({ lines }) => lines > 275)).toEqual([])
  const median = lengths.map(({ lines }) => lines).toSorted((a, b) => a - b)[Math.floor(lengths.length / 2)]
  expect(median).toBeGreaterThanOrEqual(60)
  expect(median).toBeLessThanOrEqual(100)
  // A command and a template have files of their own, however short they are.
  const fragments = lengths.filter(
    ({ file, lines }) => lines < 20 && !/^(?:commands|src\/definitions\/templates)\//.test(file),
  )
  expect(fragments.length).toBeLessThan(20)
})

test('the environment is read in one place, the first file of a process', () => {
  const readers = files.filter((file) => /process\.env\b/.test(readFileSync(file, 'utf8')))
  expect(readers.filter((file) => file.startsWith('src/') || file.startsWith('daemon/'))).toEqual([
    'daemon/main.ts',
    'daemon/server/backup.ts',
    'daemon/server/examine.ts',
  ])
})

test('the SDK of Identus is loaded in one place, which a thread of its own reaches', () => {
  const users = files.filter((file) => /['"]@hyperledger\/identus-sdk/.test(readFileSync(file, 'utf8')))
  expect(users).toEqual(['src/credentials/anoncreds/sdk.ts', 'build/bundle.js'])
  const loaders = files.filter((file) => /\bloadLibrary\b/.test(readFileSync(file, 'utf8')))
  expect(loaders.toSorted()).toEqual([
    'src/credentials/anoncreds/anoncreds-worker.ts',
    'src/credentials/anoncreds/library.ts',
  ])
})

test('comments wrap at 110 characters', () => {
  const all = ['src', 'daemon', 'cli', 'commands', 'library', 'build', 'bin', 'test', 'bench'].flatMap(
    (folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((name) => /(?<!_pb)\.(?:[cm]?ts|tsx|[cm]?js)$/.test(name) && !name.includes('node_modules'))
        .map((name) => join(folder, name)),
  )
  const long = all.flatMap((file) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .flatMap((line, index) => (isLongComment(line) ? [`${file}:${index + 1}`] : [])),
  )
  expect(long).toEqual([])
})

/** A row of a table and a directive of a tool are as long as they must be. One line may end its mark later. */
function isLongComment(line: string): boolean {
  const limit = line.endsWith(' */') ? 114 : 110
  return (
    line.length > limit &&
    /^\s*(?:\/\*\*|\*|\/\/) /.test(line) &&
    !/ \| | {3}|oxlint-|prettier-/.test(line.trim())
  )
}

test('nothing is left for later and nothing is commented out', () => {
  const marks = files.filter((file) =>
    /\b(?:TODO|FIXME|XXX)\b|^\s*\/\/\s*(?:const|let|await|return|import|if \()/m.test(
      readFileSync(file, 'utf8'),
    ),
  )
  expect(marks).toEqual([])
})

/** Test files whose tests start agents of their own, and what they do with them. */
const ownAgents = {
  'daemon/pages-live.test.ts': 'closes it under a page',
  'daemon/routes/events-stream.test.ts': 'follows the events of all tenants, and closes it under a stream',
  'daemon/routes/system.test.ts': 'reads its metrics and limits',
  'exchange/oid4vci/holder/renewal.store.test.ts': 'restarts it, and turns its renewals off',
  'flows/flow-expiry.test.ts': 'ages its records and restarts it',
  'foundation/probe.test.ts': 'makes its commits fail',
  'operations/backup/restore.test.ts': 'restores its data folder',
  'operations/doctor/diagnose.test.ts': 'examines its data folder',
  'wallet/vdr-entries/ledger-driver.test.ts': 'removes its ledger',
  'wallet/vdr-entries/own-status-list.test.ts': 'removes its ledger',
  'wallet/vdr-entries/wallets.test.ts': 'fills its quotas, and removes its ledger',
}

test('the tests of a file share an agent', () => {
  const starting = readdirSync('test', { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.test\.tsx?$/.test(name))
    .filter((name) => agentsInTests(join('test', name)) > 0)
  expect(starting.toSorted(), 'use sharedAgent, or say here why not').toEqual(Object.keys(ownAgents))
})
