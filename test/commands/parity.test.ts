/** The command line covers the HTTP API. */
import { expect, test } from 'vitest'
import { routes } from '../../daemon/routes/index.ts'
import { operationsOfCommands } from './_operations.ts'

const ledger = 'the ledger that the agent serves to other agents and to tools of a NeoPRISM node'

const forWallets = 'for wallets of OpenID4VCI'

/** The operations that no command calls, and why. */
const withoutCommand: Readonly<Record<string, string>> = {
  'GET /web/{name}/did.json': 'a did:web is resolved by its address: `agent did resolve`',
  'GET /issuer-certificates/crl/{file}': 'for readers of certificates, which name its address',
  'GET /invitation': 'the page behind an invitation’s link; `agent accept` reads the link itself',
  'GET /i': 'the page behind a short URL; the commands that accept invitations have the daemon retrieve it',
  'DELETE /iam/apikey-authentication':
    'takes a key by the key itself; `agent tenant key revoke` takes its id',
  'PUT /schema-registry/{author}/{id}': 'another path of PUT /schema-registry/schemas/{guid}',
  'GET /onboard/{didRequestSubmissionId}':
    'the page behind a link; `agent onboard submit` reads the link itself',
  'POST /onboard/{didRequestSubmissionId}':
    'of the side that asks: `agent onboard submit` has the daemon of the side that answers post there',
  'GET /did-authentication/challenge-submissions/{challengeSubmissionId}':
    'the page behind a link; `agent signin respond` reads the link itself',
  'POST /did-authentication/challenge-submissions/{challengeSubmissionId}':
    'of the side that asks: `agent signin respond` has the daemon of the side that answers post there',
  'GET /oid4vci/issuers/{issuerId}/credential-types/{configurationId}': forWallets,
  'GET /oid4vci/issuers/{issuerId}/credential-types/{configurationId}/{version}': forWallets,
  'POST /oid4vci/issuers/{issuerId}/deferred-credentials': forWallets,
  'POST /oid4vci/issuers/{issuerId}/notifications': forWallets,
  'GET /.well-known/jwks.json': 'for the applications that verify the tokens of `agent signin token`',
  'POST /api/submissions/signed-operations': ledger,
  'POST /api/submissions/objects': ledger,
  'GET /api/operations/{operationId}': ledger,
  'GET /api/transactions/{transactionId}': ledger,
  'GET /api/dids': ledger,
  'GET /api/dids/{did}': ledger,
  'GET /api/dids/{did}/protobuf': ledger,
  'GET /api/vdr-data/{entryHash}': ledger,
  'GET /api/vdr-data/{entryHash}/metadata': ledger,
  'GET /vdr/operations/{operationId}':
    'for programs: `agent vdr show` has the content once the ledger has confirmed it',
  'GET /api/indexer-stats': ledger,
  'GET /api/_system/health': ledger,
  'GET /api/_system/metadata': ledger,
  'GET /.well-known/openid-credential-issuer/oid4vci/issuers/{issuerId}': forWallets,
  'GET /.well-known/oauth-authorization-server/oid4vci/issuers/{issuerId}': forWallets,
  'GET /oid4vci/issuers/{issuerId}/.well-known/oauth-authorization-server': forWallets,
  'GET /o/{shortId}': forWallets,
  'POST /oid4vci/issuers/{issuerId}/par': forWallets,
  'POST /oid4vci/issuers/{issuerId}/revoke': forWallets,
  'GET /oid4vci/issuers/{issuerId}/authorize': forWallets,
  'POST /oid4vci/issuers/{issuerId}/authorize': forWallets,
  'GET /oid4vci/issuers/{issuerId}/log-in': forWallets,
  'POST /oid4vci/issuers/{issuerId}/presentation': forWallets,
  'GET /oid4vci/issuers/{issuerId}/presentation': forWallets,
  'GET /oid4vci/issuers/{issuerId}/d/{secret}': 'the page behind a link in a message',
  'POST /oid4vci/issuers/{issuerId}/d/{secret}': 'the button of that page',
  'POST /oid4vci/issuers/{issuerId}/deliveries/{deliveryId}': 'for the program that sends the messages',
  'POST /oid4vci/issuers/{issuerId}/token': forWallets,
  'POST /oid4vci/issuers/{issuerId}/nonce': forWallets,
  'POST /oid4vci/nonces': 'for authorization servers',
  'GET /r/{token}': forWallets,
  'POST /r/{token}': forWallets,
  'GET /oid4vp/requests/{token}': forWallets,
  'POST /oid4vp/requests/{token}': forWallets,
  'POST /oid4vp/requests/{token}/response': forWallets,
  'POST /oid4vp/requests/{token}/digital-credential': 'for the page of the request',
  'POST /present-proof/presentations/{presentationId}/digital-credential':
    'for the web site whose page asked the browser for a wallet',
  'GET /oid4vp/requests/{token}/page': 'the page for the person whose wallet is asked',
  'POST /present-proof/presentations/{presentationId}/response-code':
    'for the web site that the person returns to',
  'POST /oid4vci/issuers/{issuerId}/credentials': forWallets,
  'GET /_system/metrics': 'for Prometheus',
  'GET /_system/ready':
    'for orchestrators and load balancers; `agent daemon status` and `agent doctor` are for people',
  'GET /docs/openapi.json': 'the description of the API, for programs',
  'GET /': 'a page for browsers, and a description for programs that have only the address',
  'GET /docs': 'as GET /',
  'GET /docs/{file}': 'as GET /',
  'GET /favicon.ico': 'for browsers',
  'GET /client.js': 'for programs',
}

const calls = operationsOfCommands()
const called = new Set([...calls.values()].flatMap((keys) => [...keys]))
const keys: string[] = routes.map(({ key }) => key)

test('every operation of the API has a command or a reason for having none', () => {
  expect(keys.filter((key) => !called.has(key) && withoutCommand[key] === undefined)).toEqual([])
})

test('every reason is about an existing operation without a command', () => {
  expect(Object.keys(withoutCommand).filter((key) => !keys.includes(key) || called.has(key))).toEqual([])
})

test('commands call only existing operations', () => {
  expect([...called].filter((key) => !keys.includes(key))).toEqual([])
})

test('the calls of a command are read from its code', () => {
  expect([...calls.get('tenant:create')!].toSorted()).toEqual([
    'POST /iam/apikey-authentication',
    'POST /iam/entities',
    'POST /wallets',
  ])
  // Found in the shared file of the asking commands, not in the name of a type.
  expect(calls.get('signin:show')).toContain('GET /did-authentication/challenges/{challengeId}')
  expect(calls.get('policy:list')).toEqual(new Set(['GET /verification/policies']))
  expect(calls.get('event:tail')).toContain('GET /events/stream')
})
