/** `agent accept`: it says what it is, asks, and names every text that is nothing to answer. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PNG } from 'pngjs'
import { describe, expect, test } from 'vitest'
import { startServer } from '../support/server.ts'
import { untilEnd } from '../support/shared.ts'
import { fails } from './_cli.ts'
import { kinds, startAsking } from './_incoming.ts'

const { user, pair, acme, alice, ask, flags, draw } = await startAsking()
const { holder } = pair

test.each(kinds)('%s is named, and answered', async (kind) => {
  const asked = await ask[kind]()
  const { code, err } = await alice.run(['accept', asked.short, '--yes', ...(await flags[kind]())])
  const { hostname } = new URL(pair.agent.url)
  expect([code, err]).toEqual([0, expect.stringMatching(/^This is an? .+\.\n {2}from +.+ \(not verified\)/)])
  expect(err).toContain(hostname)
  await expect.poll(asked.end).toBe(asked.wanted)
})

/** The former commands, with what they answer. */
const former = {
  'connection accept': 'connection',
  'credential accept-invitation': 'offer',
  'proof accept-invitation': 'request',
  'onboard submit --new': 'did-request',
  'signin respond --did did:peer:2x': 'challenge',
  'oid4vc receive --yes': 'openid4vci-offer',
  'oid4vc present --yes': 'openid4vp-request',
} as const

test('a command that is given another kind names agent accept, and says no HTTP', async () => {
  for (const [command, own] of Object.entries(former))
    for (const kind of kinds) {
      if (kind === own || (command.includes('present') && /did-request|challenge/.test(kind))) continue
      const { short } = await ask[kind]()
      const { code, err } = await alice.run([...command.split(' '), short])
      expect([command, kind, code, err]).toEqual([
        command,
        kind,
        2,
        expect.stringMatching(/This is an? .*, not an? .*\n *Try: agent accept '?\S+/s),
      ])
      expect(err).not.toMatch(/POST|GET \//)
    }
})

test('a proof that the verifier refuses ends in exit code 5', async () => {
  const asked = () => acme.json`proof request --invitation --trust-issuer did:web:nobody.example`
  const credential = await flags.request()
  const first = (await asked()).invitation.shortUrl
  const says = /Reason: the verifier 127\.0\.0\.1:\d+ says: /
  expect(await alice.run(['accept', first, '--yes', ...credential])).toMatchObject({
    code: 5,
    err: expect.stringMatching(says),
  })
  const { presentationId } = await alice.json`proof accept-invitation ${(await asked()).invitation.shortUrl}`
  expect(await alice.run`proof present ${presentationId} ${credential} --wait`).toMatchObject({
    code: 5,
    err: expect.stringMatching(says),
  })
})

test('without a terminal, --yes is required, and nothing is stored', async () => {
  const { short } = await ask.offer()
  const { contents: before } = await alice.json`credential list`
  const { code, err } = await alice.run(['accept', short])
  // What it is, and who asks, comes before the question for consent.
  expect([code, err]).toEqual([
    2,
    expect.stringMatching(/^This is a credential offer.*\n {2}from .*add --yes/s),
  ])
  expect((await alice.json`credential list`).contents).toEqual(before)
  expect(await alice.run(['accept'])).toMatchObject(fails(2, 'An argument is missing: link'))
})

const foreign = await untilEnd(
  startServer((request, response) => {
    const answers: Readonly<Record<string, [number, string]>> = {
      '/html': [200, '<html><title>Hi</title></html>'],
      '/gone': [410, '{}'],
      '/moved': [302, ''],
      '/huge': [200, `"${'x'.repeat(300_000)}"`],
      '/list': [200, '[1,2]'],
      '/loop': [200, JSON.stringify({ credentialOffer: `http://${request.headers.host}/loop` })],
      '/unknown': [200, '{"hello":"world"}'],
    }
    const [status, body] = answers[request.url!] ?? [404, '{}']
    response.writeHead(status, { location: 'http://127.0.0.1:1/' }).end(body)
  }),
)

const file = (name: string, content: string | Buffer) => {
  const path = join(user.folder, name)
  writeFileSync(path, content)
  return path
}

/** Two codes side by side. */
function twoCodes(): Buffer {
  const [one, two] = ['http://a.example/i?_oobid=1', 'http://b.example/i?_oobid=2'].map((text) =>
    PNG.sync.read(readFileSync(draw(text))),
  )
  const both = new PNG({ width: one!.width + two!.width, height: one!.height })
  PNG.bitblt(one!, both, 0, 0, one!.width, one!.height, 0, 0)
  PNG.bitblt(two!, both, 0, 0, two!.width, two!.height, one!.width, 0)
  return PNG.sync.write(both)
}

const oob = (value: unknown) =>
  `https://a.example/?_oob=${Buffer.from(JSON.stringify(value)).toString('base64url')}`
const from = 'did:peer:2.Ez6LSbysY2xFMRpGMhb7tFTLMpeuPRaqaWM1yECx2AtzE3KCc'
const invitation = {
  id: '1',
  type: 'https://didcomm.org/out-of-band/2.0/invitation',
  from,
  body: { accept: [] },
}
const offer = { credential_issuer: 'https://issuer.example', credential_configuration_ids: ['a'] }
const offerLink = (value: unknown) =>
  `openid-credential-offer://?credential_offer=${encodeURIComponent(JSON.stringify(value))}`

/** Texts that cannot be answered: the exit code, and what the sentence says. */
const hostile: readonly (readonly [
  what: string,
  text: string | (() => string),
  code: number,
  says: RegExp,
])[] = [
  ['an empty text', '', 2, /text is empty/],
  ['spaces', '   ', 2, /text is empty/],
  ['a word', 'hello', 2, /neither the base64 of an invitation/],
  ['junk in another script', '你好，世界 — Привет', 2, /neither the base64/],
  ['bidi and control characters', '\u202e\u001b[2Jevil:\u0007x', 2, /invitation/],
  ['a huge text', () => 'a'.repeat(120_000), 2, /neither|content|longer/],
  [
    'a text that is longer than the limit',
    () => `@${file('long.txt', 'a'.repeat(400_001))}`,
    2,
    /longer than 400,000/,
  ],
  [
    'a binary file',
    () => file('noise.bin', Buffer.from([0, 255, 254, 1, 2, 3])),
    2,
    /neither text nor a picture/,
  ],
  ['a text with a null character', () => file('null.txt', 'a\0b'), 2, /neither text nor a picture/],
  ['a file that does not exist', './missing.png', 2, /no file \.\/missing\.png/],
  ['a named file that does not exist', '@missing.txt', 2, /missing\.txt cannot be read/],
  ['a folder', () => `@${user.folder}`, 2, /cannot be read/],
  [
    'a picture without a code',
    () => file('blank.png', PNG.sync.write(new PNG({ width: 60, height: 60 }))),
    2,
    /no QR code/,
  ],
  ['a picture with two codes', () => file('two.png', twoCodes()), 2, /several QR codes/],
  ['a cut picture', () => file('cut.png', readFileSync(draw('x')).subarray(0, 60)), 2, /PNG cannot be read/],
  ['a picture of a telephone number', () => draw('tel:+491234'), 2, /scheme tel/],
  ['file:', 'file:///etc/passwd', 2, /scheme file/],
  ['javascript:', 'javascript:alert(1)', 2, /scheme javascript/],
  ['data:', 'data:text/html,hi', 2, /scheme data/],
  ['mailto:', 'mailto:a@b.example', 2, /scheme mailto/],
  ['a network of a phone', 'WIFI:T:WPA;S:home;P:secret;;', 2, /scheme wifi/],
  ['a one-time password', 'otpauth://totp/a?secret=JBSWY3DPEHPK3PXP', 2, /scheme otpauth/],
  ['a DID', 'did:web:example.org', 2, /scheme did/],
  ['cut JSON', '{"credential_issuer": "https://a', 2, /JSON/],
  ['JSON of no kind', '{"a":1}', 2, /unknown kind, with the members a/],
  ['an empty object', '{}', 2, /members \(none\)/],
  ['a page of a website', `${foreign.url}/html`, 2, /no link for wallets/],
  ['a list', `${foreign.url}/list`, 2, /not an object/],
  ['JSON of no kind at a link', `${foreign.url}/unknown`, 2, /unknown kind/],
  ['a link that has ended', `${foreign.url}/gone`, 5, /was used or withdrawn, or it has expired/],
  ['a link that redirects', `${foreign.url}/moved`, 5, /status 302/],
  ['a link with a huge answer', `${foreign.url}/huge`, 5, /more than/],
  ['a link to itself', `${foreign.url}/loop`, 2, /nested too deeply/],
  ['a short link that has ended', `${foreign.url}/i?_oobid=x`, 5, /does not have it/],
  ['a host that does not exist', 'https://nowhere.invalid/i?_oobid=x', 5, /could not be retrieved/],
  ['a port without a server', 'http://127.0.0.1:1/i?_oobid=x', 5, /could not be retrieved/],
  [
    'an expired invitation',
    oob({ ...invitation, expires_time: 1_700_000_000 }),
    5,
    /has expired \(2023-11-14\)/,
  ],
  [
    'an expired challenge',
    JSON.stringify({
      submissionEndpoint: 'https://a.example/x',
      nonce: 'n',
      expireAt: '2024-01-01T00:00:00Z',
    }),
    5,
    /has expired/,
  ],
  [
    'an invitation of DIDComm v1',
    oob({ '@type': 'https://didcomm.org/out-of-band/1.0/invitation', '@id': '1' }),
    2,
    /DIDComm v1/,
  ],
  [
    'a message of another type',
    JSON.stringify({ id: '1', type: 'https://didcomm.org/basicmessage/2.0/message', body: {} }),
    2,
    /not an out-of-band 2\.0 invitation/,
  ],
  [
    'an offer without a grant or issuer',
    offerLink({ credential_configuration_ids: ['a'] }),
    2,
    /credential_issuer/,
  ],
  [
    'an offer of an issuer by ftp',
    offerLink({ ...offer, credential_issuer: 'ftp://a.example' }),
    2,
    /http or https/,
  ],
  [
    'an offer at a file',
    'openid-credential-offer://?credential_offer_uri=file:///etc/passwd',
    2,
    /http or https/,
  ],
  [
    'an offer of issuer draft 8',
    'openid-initiate-issuance://?issuer=https%3A%2F%2Fa.example&credential_type=x',
    2,
    /scheme openid-initiate-issuance/,
  ],
  [
    'a request without a client',
    'openid4vp://?request_uri=https%3A%2F%2Fa.example',
    2,
    /client_id is missing/,
  ],
  ['a request at a file', 'openid4vp://?client_id=a&request_uri=file:///etc/passwd', 2, /http or https/],
  [
    'a request without a way back',
    'openid4vp://?client_id=a&dcql_query=%7B%7D',
    2,
    /neither request_uri nor response_uri/,
  ],
  [
    'a DID request whose endpoint is no URL',
    '{"onboardEndpoint":"javascript:alert(1)"}',
    2,
    /DID request, and/,
  ],
  ['a challenge without a nonce', '{"submissionEndpoint":"https://a.example"}', 2, /challenge, and/],
]

describe('what cannot be answered', () => {
  const stored = async () => [
    (await holder.call('GET /connections', {})).contents.length,
    (await holder.call('GET /issue-credentials/records', {})).contents.length,
    (await holder.call('GET /present-proof/presentations', {})).contents.length,
  ]

  test.each(hostile)('%s', async (_, given, exit, says) => {
    const before = await stored()
    const text = typeof given === 'string' ? given : given()
    const { code, out, err } = await alice.run(['accept', text, '--yes'])
    expect([code, out, err]).toEqual([exit, '', expect.stringMatching(says)])
    for (const text of ['\u001b', '\u202e', 'POST', 'Unexpected']) expect(err).not.toContain(text)
    expect(await stored()).toEqual(before)
  })
})
