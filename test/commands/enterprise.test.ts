/** The enterprise features at two terminals: an organisation asks, a wallet owner scans and answers. */
import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { fails, newUser, says, saysOnly, type User, words } from './_cli.ts'
import { serveUser } from './_agents.ts'

const jsQR = createRequire(import.meta.url)('jsqr') as typeof import('jsqr').default

const [acme, alice] = [newUser(), newUser()]
const agents = [await serveUser(acme), await serveUser(alice)]
afterAll(async () => {
  for (const agent of agents) await agent[Symbol.asyncDispose]()
  for (const user of [acme, alice]) user.remove()
})

/** The end of a QR code. */
const lastLine = '▀\u001b[0m'

/** Decodes a QR code in half blocks, white on black, from terminal output. */
function scan(output: string): string | undefined {
  // oxlint-disable-next-line no-control-regex
  const lines = output.split('\n').map((line) => line.replaceAll(/\u001b\[[\d;]*m/g, ''))
  const blocks = lines.filter((line) => /^[█▀▄ ]+$/.test(line) && line.includes('█'))
  const rows = blocks.flatMap((line) => [
    [...line].map((char) => '█▀'.includes(char)),
    [...line].map((char) => '█▄'.includes(char)),
  ])
  const scale = 4
  const [width, height] = [rows[0]!.length * scale, rows.length * scale]
  const pixels = new Uint8ClampedArray(width * height * 4).fill(255)
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++)
      pixels.fill(
        rows[Math.floor(y / scale)]![Math.floor(x / scale)] ? 255 : 0,
        (y * width + x) * 4,
        (y * width + x) * 4 + 3,
      )
  return jsQR(pixels, width, height)?.data
}

/** A running command at a terminal. `shown` waits for a text and returns the output. */
function terminal(user: User, args: string[]) {
  const process = user.spawn(args)
  let output = ''
  process.stdout.on('data', (chunk) => (output += chunk))
  return {
    shown: async (text: string) => {
      await expect.poll(() => output).toContain(text)
      return output
    },
    ended: async () => {
      const { exitCode, stdout, stderr } = await process
      return { code: exitCode, out: stdout, err: stderr }
    },
  }
}

test('onboarding and sign-in by QR code work between two terminals', async () => {
  const asking = terminal(acme, ['onboard', 'create', '--from', 'Acme', '--qr', 'small', '--long', '--wait'])
  const request = scan(await asking.shown(lastLine))!
  expect(JSON.parse(request)).toMatchObject({ type: 'https://atalaprism.io/did-request', from: 'Acme' })
  const handedOver = await alice.run`onboard submit ${request} --new`
  expect(handedOver).toMatchObject({
    code: 0,
    err: expect.stringContaining(
      `“Acme”, at ${new URL(JSON.parse(request).onboardEndpoint).origin}, asks for a DID.`,
    ),
  })
  const did = /did:peer:2\S+/.exec(handedOver.out)![0]
  const known = await asking.ended()
  expect(known.code, known.err).toBe(0)
  expect(known.out).toContain('answered')
  expect(known.out).toContain(did)

  const signing = terminal(acme, ['signin', 'create', '--from', 'Acme', '--qr', 'small', '--long', '--wait'])
  const challenge = scan(await signing.shown(lastLine))!
  expect(JSON.parse(challenge)).toMatchObject({
    type: 'https://atalaprism.io/authentication-challenge',
    from: 'Acme',
  })
  expect(await alice.run(words`signin respond - --did ${did} -q`, { input: challenge })).toMatchObject({
    code: 0,
    out: did,
    err: expect.stringContaining('“Acme”, at http://127.0.0.1:'),
  })
  const signedIn = await signing.ended()
  expect(signedIn.code, signedIn.err).toBe(0)
  expect(signedIn.out).toMatch(/state +signed in/)
  expect(signedIn.out).toContain(did)

  // The link is single-use.
  expect(await alice.run`signin respond ${challenge} --did ${did}`).toMatchObject(fails(5, /used already/))
})

test('the short link of a code is answered like its text', async () => {
  const { id, shortUrl } = await acme.json`onboard create --from Acme`
  const handedOver = await alice.run`onboard submit ${shortUrl} --new`
  expect(handedOver).toMatchObject({ code: 0, err: expect.stringContaining('“Acme”, at http://127.0.0.1:') })
  const { did } = await acme.json`onboard show ${id} --wait`
  expect(handedOver.out).toContain(did)
  const challenge = await acme.json`signin create`
  const answered = await alice.run(words`signin respond - --did ${did} -q`, {
    input: `${challenge.shortUrl}\n`,
  })
  expect(answered).toMatchObject({ code: 0, out: did })
  expect(await alice.run`onboard reject ${(await acme.json`onboard create`).shortUrl} --yes`).toMatchObject({
    code: 0,
  })
  // The link is single-use.
  expect(await alice.run`onboard submit ${shortUrl} --new`).toMatchObject(
    fails(5, 'does not have it: it was used or withdrawn, or it has expired'),
  )
  expect(await alice.run`onboard submit ${'http://127.0.0.1:1/i?_oobid=a'} --new`).toMatchObject(
    fails(5, '127.0.0.1 at port 1 is not called: the port'),
  )
})

test('requests are listed, shown and removed, and scripts read JSON', async () => {
  for (const [topic, inner] of [
    ['onboard', 'didRequest'],
    ['signin', 'challenge'],
  ] as const) {
    const made = JSON.parse((await acme.run`${topic} create --json`).out)
    expect(made).toMatchObject({ state: 'pending', [inner]: { type: expect.any(String) } })
    expect((await acme.run`${topic} list -q`).out.split('\n')).toContain(made.id)
    expect((await acme.run`${topic} list`).out).toMatch(/^ID +STATE/)
    expect((await acme.run`${topic} show ${made.id}`).out).toContain('waiting for')
    expect(await acme.run`${topic} show ${made.id} --wait --timeout 1s`).toMatchObject({
      code: 6,
      err: expect.stringContaining('Timed out'),
    })
    expect((await acme.run`${topic} remove ${made.id}`).code).toBe(2)
    expect(await acme.run`${topic} remove ${made.id} --yes -q`).toMatchObject({ code: 0, out: made.id })
    expect(await acme.run`${topic} show ${made.id}`).toMatchObject(fails(3, `agent ${topic} list`))
  }
  expect(await alice.run`onboard list`).toMatchObject(saysOnly('agent onboard create'))
})

test('rejected requests and invalid answers are reported', async () => {
  const file = join(alice.folder, 'request.json')
  const request = await acme.json`onboard create`
  writeFileSync(file, JSON.stringify(request))
  const waiting = terminal(acme, ['onboard', 'show', request.id, '--wait'])
  expect(await alice.run`onboard reject ${file}`).toMatchObject(says('A sender without a name'))
  expect(await waiting.ended()).toMatchObject({
    code: 5,
    out: expect.stringContaining('declined'),
    err: expect.stringContaining('declined'),
  })

  const { challenge } = await acme.json`signin create --from Acme`
  const respond = (text: object, did = 'did:peer:2.Vz6Mk') =>
    alice.run`signin respond ${JSON.stringify(text)} --did ${did}`
  expect(await respond({ ...challenge, from: 'Bank' })).toMatchObject(fails(8, /Bank at .*Acme at/))
  expect(await respond(challenge)).toMatchObject(fails(3, 'not a DID of this wallet'))
  for (const args of [
    ['onboard', 'submit', '{}', '--new'],
    ['onboard', 'submit', '{"onboardEndpoint":"x"}', '--new'],
    ['onboard', 'submit', 'no-such-file', '--new'],
    ['onboard', 'submit', '{', '--new'],
    ['onboard', 'create', '--wait', '--timeout', 'soon'],
    ['onboard', 'submit', JSON.stringify(request)],
    ['signin', 'respond', JSON.stringify(challenge)],
  ])
    expect((await alice.run(args)).code, args.join(' ')).toBe(2)
})

test('a wallet of OpenID4VP answers by commands: onboarded and signed in with a credential', async () => {
  const issuing = await acme.json`did create --method key`
  const file = join(acme.folder, 'query.json')
  const credential = {
    id: 'employee',
    format: 'jwt_vc_json',
    meta: { type_values: [['VerifiableCredential']] },
  }
  writeFileSync(file, JSON.stringify({ credentials: [credential] }))
  const did = issuing.longFormDid ?? issuing.did
  await alice.json`did create --method key`
  const offer =
    await acme.run`credential offer --invitation --issuing-did ${did} --claim role=employee --auto`
  expect(offer).toMatchObject({ code: 0 })
  const accepted = await alice.run(words`credential accept-invitation - -q`, { input: offer.out })
  expect(accepted).toMatchObject({ code: 0 })
  const received = await alice.run`credential accept ${accepted.out} --wait`
  expect(received.code, received.err).toBe(0)

  const request = await acme.json(words`onboard create --from Acme --oid4vp --dcql ${file}`)
  expect(await alice.run`oid4vc present ${request.shortUrl} --yes`).toMatchObject({ code: 0 })
  const shown = await acme.run`onboard show ${request.id} --wait`
  expect(shown).toMatchObject({ code: 0, out: expect.stringMatching(/answered +openid4vp/) })
  expect(shown.out).toMatch(/claims +.*employee/)
  const { did: holder } = await acme.json`onboard show ${request.id}`

  const challenge = await acme.run(words`signin create --oid4vp --dcql ${file} --did ${holder}`)
  expect(challenge).toMatchObject({ code: 0, err: expect.stringContaining('openid4vp://?') })
  const id = (await acme.run`signin list --limit 1 -q`).out
  const { shortUrl } = await acme.json`signin show ${id}`
  expect(await alice.run`oid4vc present ${shortUrl} --yes`).toMatchObject({ code: 0 })
  expect(await acme.run`signin show ${id} --wait`).toMatchObject({
    code: 0,
    out: expect.stringContaining(holder),
  })
  expect((await acme.run`signin token ${id} -q`).out).toMatch(/^ey/)
})
