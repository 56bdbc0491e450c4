/** Suggestions for mistyped commands and flags, without a terminal. */
import { expect, test } from 'vitest'
import { startServer } from '../support/server.ts'
import { useUser } from './_cli.ts'

const user = useUser()

test.each([
  [['credental', 'offer'], 'There is no command agent credental offer. Did you mean agent credential offer?'],
  [
    ['credential', 'ofer', '--auto'],
    'There is no command agent credential ofer. Did you mean agent credential offer?',
  ],
  [
    ['connection', 'delete', 'abc'],
    'There is no command agent connection delete abc. Did you mean agent connection remove?',
  ],
  [
    ['did', 'get', 'did:prism:ab:cd'],
    'There is no command agent did get did:prism:ab:cd. Did you mean agent did show?',
  ],
  [['config', 'get', 'X'], 'There is no command agent config get X. Did you mean agent config show?'],
  [['connection', 'frobnicate'], 'There is no command agent connection frobnicate.'],
  [['connection', 'list', '--lmit', '3'], 'This command has no flag --lmit. Did you mean --limit?'],
  [
    ['credential', 'offer', '--isuing-did=did:x:y'],
    'This command has no flag --isuing-did. Did you mean --issuing-did?',
  ],
  [['connection', 'list', '--frobnicate'], 'This command has no flag --frobnicate.'],
  [
    ['credential', 'offer', '--format', 'jtw'],
    '--format is "jtw"; it must be jwt, sdjwt, mdoc or anoncreds. Did you mean jwt?',
  ],
  [
    ['credential', 'offer', '--format', 'x509'],
    '--format is "x509"; it must be jwt, sdjwt, mdoc or anoncreds.',
  ],
  [['connection', 'list', '--limit', 'many'], '--limit must be an integer, and is many.'],
  [
    ['connection', 'show'],
    'An argument is missing: id (the connection: its id, the end of the id, or its label).',
  ],
  [
    ['proof', 'request', '--any-issuer', '--invitation', '--predicate', 'age>=18'],
    '--predicate needs --format anoncreds.',
  ],
  [['credential', 'offer', '--invitation', '--grant', 'authorization_code'], '--grant needs --oid4vci.'],
  [
    ['credential', 'show', 'x', '--url'],
    '--url needs a value (base URL of the daemon’s HTTP API (AGENT_URL)).',
  ],
  [['backup', 'restore', 'x'], 'Give --data-dir or --database.'],
  [
    ['credential', 'offer', '--issuing-did', 'x', '--definition', 'y', '--invitation'],
    'Give --definition or --issuing-did, not both.',
  ],
  [['connection', 'list', 'abc'], 'agent connection list takes no argument such as abc.'],
  [['explain', 'OferReceived'], 'There is no explanation of "OferReceived". Did you mean OfferReceived?'],
])('%j', async (args, title) => {
  const { code, out, err } = await user.run(args)
  expect({ code, out }).toEqual({ code: 2, out: '' })
  expect(err.split('\n')[0]).toBe(`Error: ${title}`)
  expect(err).toContain('\n  Try: agent ')
  const asJson = await user.run`${args} --json`
  expect({ code: asJson.code, out: asJson.out }).toEqual({ code: 2, out: '' })
  expect(JSON.parse(asJson.err)).toMatchObject({ code: 'Usage', title, exitCode: 2 })
})

test('https at a server that speaks http is named, with the address that works', async () => {
  await using server = await startServer((_, response) => response.end('{}'))
  const url = server.url.replace(/^http/, 'https')
  expect(await user.run`connection list --url ${url}`).toMatchObject({
    code: 7,
    err: `Error: The server at ${url} speaks http, not https\n  Try: give its address with http: --url ${server.url}`,
  })
})
