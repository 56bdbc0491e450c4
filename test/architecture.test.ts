/** The shape of the code: imports point one way, files stay short. */
import { readFileSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { methodNames } from '../src/did/names.ts'
import { formatNames } from '../src/formats/names.ts'
import { agentsInTests, findCycles, importsOf, longFunctions, namesIn, textsOf } from './_code.ts'

/** The folders and files that a folder may import. It must not import any others. */
const mayImport: Record<string, string[]> = {
  'src/base': [],
  'src/x509': ['src/base/faults.ts', 'src/crypto'],
  'src/net': ['src/base', 'src/x509'],
  'src/otel': ['src/base'],
  'src/crypto': ['src/base'],
  'src/storage': ['src/base'],
  'src/nodes': ['src/base', 'src/storage'],
  'src/did': ['src/base', 'src/crypto'],
  'src/vdr': ['src/base', 'src/net', 'src/crypto', 'src/did', 'src/storage'],
  'src/dcql': ['src/base', 'src/credentials'],
  'src/didcomm': ['src/base', 'src/crypto', 'src/did'],
  'src/credentials': ['src/base', 'src/crypto', 'src/did'],
  'src/audit': ['src/base', 'src/nodes', 'src/storage'],
  'src/events': ['src/base', 'src/net', 'src/storage'],
  'src/outbox': ['src/base', 'src/net', 'src/storage', 'src/events'],
  'src/schemas': ['src/base', 'src/net', 'src/crypto', 'src/did', 'src/storage'],
  'src/anoncreds': ['src/base', 'src/did', 'src/credentials', 'src/schemas', 'src/storage'],
  'src/wallet': [
    'src/base',
    'src/anoncreds',
    'src/net',
    'src/crypto',
    'src/did',
    'src/vdr',
    'src/storage',
    'src/nodes',
    'src/events',
  ],
  'src/bearer-tokens': ['src/base', 'src/crypto', 'src/net', 'src/oauth', 'src/storage', 'src/wallet'],
  'src/did-registrar': [
    'src/base',
    'src/crypto',
    'src/did',
    'src/vdr',
    'src/storage',
    'src/events',
    'src/outbox',
    'src/wallet',
  ],
  'src/vdr-entries': ['src/base', 'src/did', 'src/vdr', 'src/storage', 'src/wallet', 'src/did-registrar'],
  'src/issuer-certificates': [
    'src/base',
    'src/crypto',
    'src/credentials',
    'src/storage',
    'src/wallet',
    'src/x509',
  ],
  'src/trust-anchors': [
    'src/base',
    'src/credentials',
    'src/did',
    'src/issuer-certificates',
    'src/storage',
    'src/wallet',
    'src/x509',
  ],
  'src/verification': [
    'src/base',
    'src/formats',
    'src/did',
    'src/credentials',
    'src/schemas',
    'src/storage',
    'src/wallet',
  ],
  'src/credential-status': [
    'src/base',
    'src/net',
    'src/crypto',
    'src/did',
    'src/credentials',
    'src/storage',
    'src/wallet',
    'src/outbox',
    'src/did-registrar',
    'src/issuer-certificates',
    'src/vdr',
    'src/vdr-entries',
  ],
  // What a credential format does, whichever protocol carries its credentials.
  'src/formats': ['src/base', 'src/crypto', 'src/did', 'src/credentials', 'src/dcql'],
  // Verifies presentations, whichever protocol carries them.
  'src/presentation': [
    'src/base',
    'src/formats',
    'src/dcql',
    'src/did',
    'src/credentials',
    'src/credential-status',
    'src/did-registrar',
    'src/trust-anchors',
    'src/verification',
    'src/wallet',
  ],
  'src/protocols': [
    'src/base',
    'src/formats',
    'src/dcql',
    'src/net',
    'src/crypto',
    'src/did',
    'src/didcomm',
    'src/credentials',
    'src/credential-status',
    'src/schemas',
    'src/anoncreds',
    'src/storage',
    'src/events',
    'src/outbox',
    'src/wallet',
    'src/did-registrar',
    'src/issuer-certificates',
    'src/trust-anchors',
    'src/presentation',
    'src/verification',
    // What a transport stores in a record.
    'src/oid4vci/holder/model.ts',
    'src/oid4vp/model.ts',
    'src/oid4vp/holder/model.ts',
  ],
  'src/oauth': ['src/crypto'],
  'src/oid4vci': [
    'src/base',
    'src/formats',
    'src/oauth',
    'src/net',
    'src/crypto',
    'src/did',
    'src/credentials',
    'src/schemas',
    'src/storage',
    'src/wallet',
    'src/outbox',
    'src/did-registrar',
    'src/issuer-certificates',
    'src/protocols',
  ],
  'src/oid4vp': [
    'src/base',
    'src/formats',
    'src/oauth',
    'src/net',
    'src/crypto',
    'src/did',
    'src/dcql',
    'src/credentials',
    'src/credential-status',
    'src/storage',
    'src/wallet',
    'src/outbox',
    'src/did-registrar',
    'src/issuer-certificates',
    'src/trust-anchors',
    'src/verification',
    'src/presentation',
    'src/protocols',
  ],
  // Reads texts without a wallet. The command line loads it, and nothing of the daemon.
  'src/decode': [
    'src/base',
    'src/formats',
    'src/net',
    'src/crypto',
    'src/did',
    'src/didcomm',
    'src/dcql',
    'src/credentials',
    'src/oid4vci/holder',
  ],
  'src/enterprise': [
    'src/base',
    'src/formats',
    'src/net',
    'src/crypto',
    'src/did',
    'src/dcql',
    'src/credentials',
    'src/storage',
    'src/events',
    'src/wallet',
    'src/did-registrar',
    'src/presentation',
    'src/protocols',
    'src/oid4vci/credential-types.ts',
    'src/oid4vp',
  ],
  'src/doctor': [
    'src/base',
    'src/bearer-tokens',
    'src/crypto',
    'src/net',
    'src/vdr',
    'src/storage',
    'src/nodes',
    'src/outbox',
    'src/events',
    'src/wallet',
    'src/oauth',
    'src/oid4vci',
    'src/issuer-certificates/expiry.ts',
    'src/protocols',
  ],
  'src/backup': ['src/base', 'src/storage', 'src/vdr/operation-table.ts', 'src/wallet'],
  'src/wallet-export': [
    'src/nodes',
    'src/base',
    'src/backup/copier.ts',
    'src/did',
    'src/didcomm/route.ts',
    'src/storage',
    'src/wallet',
  ],
  'src/trace': ['src/base', 'src/storage', 'src/events', 'src/outbox', 'src/wallet', 'src/protocols'],
  'src/mediator': ['src/base', 'src/net', 'src/nodes', 'src/crypto', 'src/did', 'src/didcomm', 'src/storage'],
  // The files directly in src put all of it together.
  src: [
    'src/base',
    'src/bearer-tokens',
    'src/anoncreds',
    'src/audit',
    'src/backup',
    'src/net',
    'src/nodes',
    'src/did',
    'src/credential-status',
    'src/vdr',
    'src/vdr-entries',
    'src/schemas',
    'src/storage',
    'src/wallet',
    'src/did-registrar',
    'src/enterprise',
    'src/issuer-certificates/expiry.ts',
    'src/oid4vci',
    'src/oid4vp',
    'src/outbox',
    'src/protocols',
    'src/mediator',
    'src/wallet-export',
  ],
  // The daemon, from the middleware up to the server.
  'daemon/middleware': ['src', 'src/base', 'src/bearer-tokens', 'src/net', 'src/wallet'],
  'daemon/http': [
    'src',
    'src/base',
    'src/audit',
    'src/events',
    'src/protocols',
    'src/storage',
    'src/wallet',
    'daemon/middleware',
  ],
  'daemon/pages': [
    'src/base',
    'src/didcomm',
    'src/enterprise',
    'src/oid4vp/digital-credentials.ts',
    'src/storage/not-owner-error.ts',
    'daemon/http',
  ],
  'daemon/routes': [
    'src',
    'src/base',
    'src/bearer-tokens',
    'src/anoncreds',
    'src/audit',
    'src/backup',
    'src/oauth',
    'src/oid4vci',
    'src/oid4vp',
    'src/net',
    'src/did',
    'src/didcomm',
    'src/schemas',
    'src/storage',
    'src/wallet',
    'src/vdr',
    'src/vdr-entries',
    'src/did-registrar',
    'src/credential-status',
    'src/events',
    'src/doctor',
    'src/trace',
    'src/enterprise',
    'src/issuer-certificates',
    'src/trust-anchors',
    'src/verification',
    'src/protocols',
    'src/wallet-export',
    'daemon/middleware',
    'daemon/http',
    'daemon/pages',
    'daemon/nodes/greet.ts',
  ],
  'daemon/nodes': [
    'src',
    'src/base',
    'src/nodes',
    'src/storage',
    'src/wallet',
    'src/wallet-export/peek.ts',
    'daemon/middleware',
  ],
  // Worker processes run what a daemon of one process does itself.
  'daemon/workers': [
    'src',
    'src/base',
    'src/nodes',
    'src/wallet',
    'daemon/nodes',
    'daemon/routes',
    'daemon/server',
  ],
  'daemon/server': [
    'src',
    'src/base',
    'src/backup',
    'src/did',
    'src/didcomm',
    'src/doctor',
    'src/mediator',
    'src/net',
    'src/nodes',
    'src/otel',
    'src/protocols',
    'src/storage',
    'src/wallet',
    'daemon/middleware',
    'daemon/nodes',
    'daemon/workers/supervisor.ts',
    'daemon/workers/worker.ts',
    'daemon/http',
    'daemon/routes',
  ],
  // The client loads nothing of the daemon: it imports types.
  'daemon/client': ['src/events', 'daemon/http', 'daemon/routes'],
  // The exports of the package. Its client loads nothing of the daemon either, and runs in browsers.
  'library/client': ['daemon/client', 'daemon/http', 'daemon/routes'],
  'library/agent': ['daemon/server', 'library/client'],
  'library/_make': ['daemon/http', 'daemon/routes'],
  // Commands and the dashboard speak HTTP with the daemon.
  cli: [
    'src/base',
    'src/crypto/mnemonic.ts',
    'src/dcql/query.ts',
    'src/decode',
    'src/net/lan.ts',
    'daemon/client',
  ],
  'cli/tui': [
    'src/base',
    'src/dcql/query-of.ts',
    'daemon/client',
    'cli/client',
    'cli/errors',
    'cli/format',
    'cli/input',
    'cli/trace',
    'cli/qr',
    'cli',
  ],
  commands: [
    'src/base',
    'src/dcql/match.ts',
    'src/dcql/query.ts',
    'src/decode',
    'daemon/client',
    'cli',
    'cli/tui',
    'package.json',
  ],
  bin: [],
  // The generator of the reference pages, and of their pictures.
  docs: ['src/base', 'daemon/http', 'daemon/routes', 'cli', 'test/_chromium.ts'],
}

/** Generated code is as long as its source makes it. */
const generated = ['src/did/prism/prism_pb.ts']

const files = ['src', 'daemon', 'cli', 'commands', 'docs', 'library', 'bin'].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(?:tsx?|js)$/.test(name))
    .map((name) => join(folder, name)),
)

const home = (file: string) =>
  Object.keys(mayImport)
    .toSorted((a, b) => b.length - a.length)
    .find((folder) => file.startsWith(`${folder}/`))!

/** The definitions of protocols, and the names of credential formats and DID methods: pure data that imports only each other. Every folder may import it. */
const isDefinition = (file: string) =>
  /^src\/(?:protocols\/(?:definitions|[^/]+\/states|engine\/machine)|events\/subjects|(?:did|formats)\/names)\.ts$/.test(
    file,
  )

const isAllowed = (from: string, to: string) =>
  isDefinition(to) ||
  home(to) === home(from) ||
  mayImport[home(from)]!.some((place) => place === to || place === home(to) || place === dirname(to))

const imports = (file: string) => importsOf(file).map(({ to }) => to)

test('definitions are pure data', () => {
  const wrong = files
    .filter(isDefinition)
    .flatMap(
      (file) =>
        readFileSync(file, 'utf8')
          .match(/from '[^']+'/g)
          ?.map((from) => ({ file, from })) ?? [],
    )
    .filter(({ file, from }) => !isDefinition(join(dirname(file), from.slice("from '".length, -1))))
  expect(wrong).toEqual([])
})

test('only the engine writes the state of a record', () => {
  const writers = files.filter((file) =>
    /(?:insertInto|updateTable)\('record'\)/.test(readFileSync(file, 'utf8')),
  )
  expect(writers.filter((file) => !file.startsWith('src/protocols/engine/'))).toEqual([])
  const stateWriters = writers.filter((file) => /\.set\(\{[^}]*\bstate\b/.test(readFileSync(file, 'utf8')))
  expect(stateWriters).toEqual(['src/protocols/engine/record.ts'])
})

test('imports point one way', () => {
  const wrong = files.flatMap((file) =>
    imports(file).flatMap((target) => (isAllowed(file, target) ? [] : [`${file} → ${target}`])),
  )
  expect(wrong).toEqual([])
})

test('no folder may import what it does not need', () => {
  const used = new Set(
    files.flatMap((file) =>
      imports(file).flatMap((to) => [to, home(to), dirname(to)].map((place) => `${home(file)} → ${place}`)),
    ),
  )
  const entries = Object.entries(mayImport).flatMap(([folder, places]) =>
    places.map((place) => `${folder} → ${place}`),
  )
  expect(entries.filter((entry) => !used.has(entry))).toEqual([])
})

test('the clients of the daemon import only types of the daemon', () => {
  const clients = ['daemon/client', 'library/client']
  const loaded = files
    .filter((file) => clients.includes(home(file)))
    .flatMap((file) => importsOf(file).filter(({ isType }) => !isType))
  expect(loaded.filter(({ to }) => !clients.includes(home(to)) && !isDefinition(to))).toEqual([])
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

/** Files that name a DID method, outside the folders that have the methods. What differs between methods is in their tables. */
test('at most 12 other files name a DID method', () => {
  const names = methodNames.join('|')
  const isDid = new RegExp(`\\bdid:(?:\\(\\?[:!])?(?:${names})\\b`)
  // These are words of other specifications too.
  const isWord = (name: string) => ['key', 'jwk', 'web'].includes(name)
  const isName = (text: string, comparedWith = '') =>
    methodNames.some((name) => name === text && (!isWord(name) || /method$/i.test(comparedWith)))
  const naming = files
    .filter((file) => /^(?:src\/(?!did(?:-registrar)?\/)|cli\/|commands\/)/.test(file))
    .filter((file) =>
      textsOf(file).some(({ text, comparedWith }) => isDid.test(text) || isName(text, comparedWith)),
    )
  expect(naming.length, `ask src/did/names.ts instead:\n${naming.join('\n')}`).toBeLessThanOrEqual(12)
})

/** Files that name a credential format, outside the folders of the formats. What differs between formats is in their tables. */
test('at most 12 other files name a credential format', () => {
  const rows: { title: string; openid?: { id: string } }[] = Object.values(formatNames)
  const names = [
    ...Object.keys(formatNames),
    ...rows.flatMap(({ title, openid }) => [title, ...(openid ? [openid.id] : [])]),
  ]
  const naming = files
    .filter((file) => /^(?:src\/(?!formats\/|credentials\/|anoncreds\/)|cli\/|commands\/)/.test(file))
    .filter((file) => namesIn(file, names).length > 0)
  expect(naming.length, `ask src/formats/names.ts instead:\n${naming.join('\n')}`).toBeLessThanOrEqual(12)
})

test('the engine of the protocols knows none of them', () => {
  const engine = 'src/protocols/engine/'
  const known = files.flatMap((file) => (file.startsWith(engine) ? imports(file) : []))
  expect(known.filter((target) => target.startsWith('src/protocols/') && !target.startsWith(engine))).toEqual(
    [],
  )
})

test('functions have at most 60 lines', () => {
  // Released migrations never change.
  const checked = files.filter((file) => !file.startsWith('src/storage/migrations/'))
  expect(checked.flatMap((file) => longFunctions(file, 60))).toEqual([])
})

test('the two credential protocols know connections, and nothing of each other', () => {
  const wrong = files.flatMap((file) => {
    const own = /^src\/protocols\/(issue-credential|present-proof)\//.exec(file)?.[1]
    const other = own === 'issue-credential' ? 'present-proof' : 'issue-credential'
    return own === undefined ? [] : imports(file).filter((target) => target.includes(`/${other}/`))
  })
  expect(wrong).toEqual([])
})

test('files hold whole concepts: at most 250 lines, 60 to 100 in the middle, few of less than 20', () => {
  const lengths = files
    .filter((file) => !generated.includes(file))
    .map((file) => ({ file, lines: readFileSync(file, 'utf8').split('\n').length - 1 }))
  expect(lengths.filter(({ lines }) => lines > 250)).toEqual([])
  const median = lengths.map(({ lines }) => lines).toSorted((a, b) => a - b)[Math.floor(lengths.length / 2)]
  expect(median).toBeGreaterThanOrEqual(60)
  expect(median).toBeLessThanOrEqual(100)
  // A command and a migration have files of their own, however short they are.
  const fragments = lengths.filter(
    ({ file, lines }) => lines < 20 && !/^(?:commands|src\/storage\/(?:postgres\/)?migrations)\//.test(file),
  )
  expect(fragments.length).toBeLessThan(20)
})

test('the environment is read in one place, the first file of a process', () => {
  const readers = files.filter((file) => /process\.env\b/.test(readFileSync(file, 'utf8')))
  expect(readers.filter((file) => file.startsWith('src/') || file.startsWith('daemon/'))).toEqual([
    'daemon/server/backup.ts',
    'daemon/server/examine.ts',
    'daemon/server/main.ts',
    'daemon/workers/worker.ts',
  ])
})

test('the SDK of Identus is loaded in one place, which a thread of its own reaches', () => {
  const users = files.filter((file) => /['"]@hyperledger\/identus-sdk/.test(readFileSync(file, 'utf8')))
  expect(users).toEqual(['src/anoncreds/sdk.ts', 'bin/bundle.js'])
  const loaders = files.filter((file) => /\bloadLibrary\b/.test(readFileSync(file, 'utf8')))
  expect(loaders.toSorted()).toEqual(['src/anoncreds/anoncreds-worker.ts', 'src/anoncreds/library.ts'])
})

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
  'backup/restore.test.ts': 'restores its data folder',
  'base/probe.test.ts': 'makes its commits fail',
  'daemon/pages-live.test.ts': 'closes it under a page',
  'daemon/routes/events-stream.test.ts': 'follows the events of all tenants, and closes it under a stream',
  'daemon/routes/system.test.ts': 'reads its metrics and limits',
  'doctor/diagnose.test.ts': 'examines its data folder',
  'flows/flow-expiry.test.ts': 'ages its records and restarts it',
  'vdr-entries/ledger-driver.test.ts': 'removes its ledger',
  'vdr-entries/own-status-list.test.ts': 'removes its ledger',
  'vdr-entries/wallets.test.ts': 'fills its quotas, and removes its ledger',
}

test('the tests of a file share an agent', () => {
  const starting = readdirSync('test', { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.test\.tsx?$/.test(name))
    .filter((name) => agentsInTests(join('test', name)) > 0)
  expect(starting.toSorted(), 'use sharedAgent, or say here why not').toEqual(Object.keys(ownAgents))
})
