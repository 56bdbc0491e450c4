/** All connections go through the guarded client, and `ssrf.test.ts` covers every use of it. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { commandLineFiles, guardedFiles, operatorFiles } from './_sites.ts'

const root = new URL('../../..', import.meta.url).pathname
const sources = ['src', 'daemon', 'cli', 'commands', 'bin'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(?:tsx?|m?js)$/.test(file))
    .map((file) => `${folder}/${file}`),
)
const read = (file: string) => readFileSync(join(root, file), 'utf8')
/** Code without comments. */
const codeOf = (file: string) => read(file).replace(/\/\*.*?\*\/|^\s*\/\/[^\n]*/gms, '')
const filesWith = (pattern: RegExp) => sources.filter((file) => pattern.test(codeOf(file))).toSorted()

test('every use of the HTTP client is known', () => {
  const uses =
    /\b(?:http|operatorHttp)\s*\??\.\s*(?:post|exchange|getJson)\b|\{[^{}]*\b(?:post|exchange|getJson)\b[^{}]*\} = [\w.]*[hH]ttp\b/
  const known = [...Object.keys(guardedFiles), ...Object.keys(operatorFiles), ...commandLineFiles]
  expect(filesWith(uses)).toEqual(known.toSorted())
})

test('every file that has the client uses it or is known to pass it on', () => {
  const passOn = [
    'src/agent/agent.ts',
    'src/wallet/bearer-tokens/bearer-tokens.ts',
    'src/operations/doctor/diagnose.ts',
    'src/operations/doctor/openid-provider.ts',
    'src/agent/environment.ts',
    'src/exchange/mediator/mediator.ts',
    'src/foundation/net/http-client.ts',
    'src/exchange/oid4vci/access-token.ts',
    'src/exchange/oid4vci/log-in/provider.ts',
    'src/agent/short-link-content.ts',
    'src/did/ledger/http-ledger.ts',
    'src/wallet/environment.ts',
  ]
  const given = filesWith(/\bHttpClient\b|\boperatorHttp\b|\benv\.http\b|\bWebClient\b|\bcreateHttpClient\b/)
  const known = [...Object.keys(guardedFiles), ...Object.keys(operatorFiles), ...commandLineFiles, ...passOn]
  expect(given.filter((file) => !known.includes(file))).toEqual([])
})

test('the operator’s client is used for the operator’s addresses only', () => {
  expect(filesWith(/\boperatorHttp\b/)).toEqual([
    'src/agent/agent.ts', // the OpenID provider
    'src/agent/environment.ts',
    'src/operations/doctor/diagnose.ts',
    'src/operations/doctor/webhook-receivers.ts', // the global webhook
    'src/wallet/environment.ts',
    'src/wallet/events/deliver.ts', // the global webhook
  ])
})

/** Network modules. Type imports and address checks open no connections. */
const imports =
  /^import (?!type )([^;']*?) from '(?:undici|ws|node:(?:https?|http2|net|tls|dgram|dns(?:\/promises)?))'/gm
const harmless = /\btype \w+|\b(?:isIP|isIPv4|isIPv6|BlockList)\b/g
const ways =
  /\bimport\('(?:undici|node:https?|node:net)'\)|\bgetBuiltinModule\(|\bfetch\(|new (?:WebSocket|EventSource)\(/

function opensConnections(file: string): boolean {
  const code = codeOf(file)
  return (
    ways.test(code) ||
    [...code.matchAll(imports)].some(([, names]) => /\w/.test(names!.replace(harmless, '')))
  )
}

test('no other file opens connections', () => {
  expect(sources.filter(opensConnections).toSorted()).toEqual([
    'cli/daemon/ports.ts', // a server, to see whether a port is free
    'cli/demo/changes.ts', // a server
    'cli/redirect.ts', // a server for the browser of this machine
    'cli/webhook-receiver.ts', // a server, and what it passes on to an address on the command line
    'daemon/client/send-request.ts', // the command line asks its daemon
    'daemon/nodes/connection.ts', // connections to the other nodes of this agent
    'daemon/nodes/forward-upgrade.ts', // a WebSocket at another node
    'daemon/nodes/greet.ts', // a request to another node, to learn whether it answers
    'daemon/nodes/listener.ts', // the server for the other nodes
    'daemon/nodes/peer-request.ts', // a request to another node
    'daemon/pages/digital-credentials.ts', // in the browser
    'daemon/pages/page.ts', // in the browser: the event stream of its own link
    'daemon/pages/reference/start.js', // in the browser: reads the document of its own server
    'daemon/server/listen.ts', // the servers
    'daemon/server/refused-upgrade.ts', // the names of statuses
    'daemon/server/sockets.ts', // the server of WebSockets
    'src/foundation/net/connector.ts', // the guard
    'src/foundation/net/lan.ts', // a socket that sends nothing
    'src/foundation/otel/export.ts', // the operator's collector of traces
    'src/operations/doctor/ports.ts', // binds a port to see whether it is free
  ])
})
