/** `agent decode` as a process: its input, its output, and its exit codes. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { crc32, deflateSync } from 'node:zlib'
import jpeg from 'jpeg-js'
import { PNG } from 'pngjs'
import encodeQR from 'qr'
import { afterAll, expect, test } from 'vitest'
import { generateKey, toPublic } from '../../src/foundation/crypto/keys.ts'
import { createInvitation, toInvitationUrl } from '../../src/exchange/didcomm/invitation.ts'
import { createJwkDid } from '../../src/did/jwk.ts'
import { generatePeerDid } from '../../src/did/peer.ts'
import { readQrCode } from '../../src/operations/decode/picture.ts'
import { fixture } from '../operations/decode/_read.ts'
import { readMdoc } from '../support/mdoc.ts'
import { startConnected } from '../flows/_steps.ts'
import { startServer } from '../support/server.ts'
import { hasScript, newUser } from './_cli.ts'

const user = newUser()
const { folder } = user
afterAll(user.remove)

const did = createJwkDid(toPublic(generateKey('P-256')))

test('reads an argument, a file and standard input', async () => {
  const file = join(folder, 'did.txt')
  writeFileSync(file, `${did}\n`)
  const expected = { kind: 'did', facts: { did } }
  expect(await user.json`decode ${did}`).toMatchObject(expected)
  expect(await user.json`decode @${file}`).toMatchObject(expected)
  expect(await user.json`decode --file ${file}`).toMatchObject(expected)
  for (const args of [['decode'], ['decode', '-']])
    expect(await user.json(args, { input: did })).toMatchObject(expected)
})

test('prints facts, checks and content for people', async () => {
  const { out, code } = await user.run(['decode'], {
    input: fixture('openid/credentials/sd_jwt_presentation.txt'),
  })
  expect(code).toBe(0)
  expect(out).toMatch(/^SD-JWT VC with key binding\n/)
  expect(out).toMatch(/\nsignature +not verified: the key is not in the token\n/)
  expect(out).toMatch(/\nsd_hash +passed: /)
  expect(out).toMatch(/\nissued +2025-04-15T18:56:34Z, \d+ years? ago\n/)
  expect(out).toContain('\nCLAIMS\n{\n')
})

test('an mdoc is read from a file of bytes, with the transcript of its session', async () => {
  const { values } = readMdoc('annex-d') as { values: Record<string, string> }
  const [response, request] = [join(folder, 'response.cbor'), join(folder, 'request.cbor')]
  writeFileSync(response, Buffer.from(values['device_response']!, 'hex'))
  writeFileSync(request, Buffer.from(values['device_request']!, 'hex'))
  const transcript = join(folder, 'transcript.cbor')
  writeFileSync(transcript, Buffer.from(values['session_transcript_bytes']!, 'hex'))

  const { out, code } = await user.run`decode ${response}`
  expect(out).toMatch(/^presentation of ISO mdocs \(DeviceResponse\)\n/)
  expect(out).toMatch(/\nexpires +2021-10-01T13:30:02Z, expired \d+ years? ago\n/)
  expect(out).toContain('"portrait": "JPEG, 1,042 bytes"')
  // The certificate in the standard has no CRL distribution point.
  expect({ code, failed: out.match(/^\S.* {2}failed: .*/gm) }).toEqual({
    code: 8,
    failed: [expect.stringMatching(/^certificate +failed: the first certificate lacks a CRL/)],
  })
  expect(out).not.toContain('"claims"')

  const asked = await user.run`decode ${request} --transcript ${transcript}`
  expect(asked.out).toMatch(/\nreader signature +passed: made by the first certificate/)

  const notation = await user.run`decode ${request} --cbor`
  expect(notation.code).toBe(0)
  expect(notation.out).toContain('\n  1    "version": "1.0",\n')
  expect((await user.json`decode ${request} --cbor`).content.notation).toContain('"docRequests": [')
})

test.runIf(hasScript())('fits a terminal of 80 columns', async () => {
  const { out } = await user.runInTerminal(['decode', did], { columns: 80, rows: 24 }, { NO_COLOR: '1' })
  const lines = out.split(/\r?\n/)
  expect(lines[0]).toBe('DID')
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80)
})

test('exits with 8 if a check fails, and with 2 if the text cannot be read', async () => {
  const [jwt, , binding] = fixture('openid/credentials/sd_jwt_presentation.txt').trim().split('~')
  expect((await user.run`decode ${`${jwt}~${binding}`}`).code).toBe(8)
  const { code, err } = await user.run`decode hello`
  expect({ code, err }).toMatchObject({
    code: 2,
    err: expect.stringContaining('Error: The text is not recognised'),
  })
  expect(await user.run(['decode', '--json', 'hello'])).toMatchObject({
    code: 2,
    err: expect.stringContaining('"code":"Usage"'),
  })
  expect((await user.run`decode --file /nowhere`).err).toContain('The file /nowhere cannot be read')
})

const invitation = createInvitation({
  id: 'i',
  from: generatePeerDid('https://agent.example').did,
  goal: 'Hello',
})

test.each(['png', 'jpg'] as const)('reads the QR code in a %s', async (type) => {
  const url = toInvitationUrl('https://agent.example/invitation', invitation)
  const modules = encodeQR(url, 'raw', { border: 4, scale: 4 })
  const size = modules.length
  const data = Buffer.from(
    modules
      .flat()
      .flatMap((isDark) => (isDark ? [0, 0, 0, 255] : type === 'png' ? [0, 0, 0, 0] : [255, 255, 255, 255])),
  )
  const file = join(folder, `qr.${type}`)
  const picture = { width: size, height: size, data }
  writeFileSync(
    file,
    type === 'png'
      ? PNG.sync.write(Object.assign(new PNG(picture), { data }))
      : jpeg.encode(picture, 60).data,
  )
  expect(await user.json`decode --image ${file}`).toMatchObject({
    kind: 'invitation',
    facts: { goal: 'Hello' },
  })
})

test.each([
  ['no picture', Buffer.from('hello'), 'neither a PNG nor a JPEG'],
  [
    'a picture without a code',
    PNG.sync.write(new PNG({ width: 50, height: 50 })),
    'has no QR code that can be read',
  ],
  [
    'a broken PNG',
    PNG.sync.write(new PNG({ width: 50, height: 50 })).subarray(0, 60),
    'The PNG cannot be read',
  ],
])('refuses %s', async (_, bytes, reason) => {
  const file = join(folder, 'refused.png')
  writeFileSync(file, bytes)
  const { code, err } = await user.run`decode --image ${file}`
  expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining(reason) })
})

/** A PNG of some chunks. Their check sums are right. */
function pngOf(...chunks: [type: string, content: Buffer][]): Buffer {
  const parts = chunks.map(([type, content]) => {
    const body = Buffer.concat([Buffer.from(type, 'latin1'), content])
    const ends = Buffer.alloc(8)
    ends.writeUInt32BE(content.length)
    ends.writeUInt32BE(crc32(body), 4)
    return Buffer.concat([ends.subarray(0, 4), body, ends.subarray(4)])
  })
  return Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), ...parts])
}

function headerOf(side: number, interlace: 0 | 1): Buffer {
  const header = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, 6, 0, 0, interlace])
  header.writeUInt32BE(side)
  header.writeUInt32BE(side, 4)
  return header
}

test.each([
  ['interlaced pixels', [['IHDR', headerOf(10, 1)]], /The PNG cannot be read: Cannot create a Buffer larger/],
  [
    'a second header',
    [
      ['IHDR', headerOf(10, 0)],
      ['IHDR', headerOf(30_000, 0)],
    ],
    /not have exactly one header/,
  ],
  ['a large header', [['IHDR', headerOf(30_000, 0)]], /more than 40 megapixels/],
] as [string, [string, Buffer][], RegExp][])(
  'a picture with %s cannot take all memory',
  async (_, headers, reason) => {
    const file = join(folder, 'bomb.png')
    const pixels = deflateSync(Buffer.alloc(2 ** 24))
    writeFileSync(file, pngOf(...headers, ['IDAT', pixels], ['IEND', Buffer.alloc(0)]))
    const { code, err } = await user.run`decode --image ${file}`
    expect({ code, err }).toEqual({ code: 2, err: expect.stringMatching(reason) })
  },
)

test('an interlaced picture is read', () => {
  // The seven passes have 20 lines, each with a byte for its filter.
  const rows = Buffer.alloc(4 * 100 + 20)
  const file = pngOf(['IHDR', headerOf(10, 1)], ['IDAT', deflateSync(rows)], ['IEND', Buffer.alloc(0)])
  expect(() => readQrCode(file)).toThrow('has no QR code')
})

test('a text that never ends is read up to a limit', async () => {
  expect(await user.run`decode --file /dev/zero`).toMatchObject({
    code: 2,
    err: expect.stringContaining('The input is longer than 50 MB'),
  })
  const image = await user.run`decode --image /dev/zero`
  expect(image).toMatchObject({ code: 2, err: expect.stringContaining('longer than 50 MB') })
  const begins = '-----BEGIN CERTIFICATE-----'.repeat(70_000)
  const { code, err } = await user.run(['decode'], { input: begins })
  expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining('its content cannot be read') })
}, 10_000)

test('makes a connection with --online only', async () => {
  const requests: string[] = []
  await using server = await startServer((request, response) => {
    requests.push(request.url!)
    response.setHeader('content-type', 'application/json')
    response.end(
      JSON.stringify(
        request.url!.startsWith('/i')
          ? invitation
          : { credential_issuer: 'https://a.example', credential_configuration_ids: ['A'] },
      ),
    )
  })
  const offer = `openid-credential-offer://?credential_offer_uri=${encodeURIComponent(`${server.url}/offer`)}`
  const link = `${server.url}/i?_oobid=abc`
  for (const text of [offer, link, `${server.url}/document`]) {
    expect((await user.json`decode ${text}`).parts).toEqual([])
  }
  expect(requests).toEqual([])
  expect((await user.json`decode ${offer} --online`).parts).toMatchObject([{ kind: 'credential-offer' }])
  expect((await user.json`decode ${link} --online`).parts).toMatchObject([{ kind: 'invitation' }])
  expect(requests).toEqual(['/offer', '/i?_oobid=abc'])
})

test('a did:prism on a ledger is resolved with --online by the daemon', async () => {
  await using pair = await startConnected()
  const { credential } = await pair.toHolder({ name: 'Alice' })
  const { issuingDID } = pair
  const asked = user.as({ AGENT_URL: pair.agent.url })
  const signatureOf = async (...flags: string[]) =>
    (await asked.json`decode ${credential} ${flags}`).checks.find(
      ({ name }: { name: string }) => name === 'signature',
    )
  expect(await signatureOf()).toMatchObject({
    result: 'not verified',
    detail: expect.stringContaining('--online asks the daemon'),
  })
  expect(await signatureOf('--online')).toMatchObject({
    result: 'passed',
    detail: `made by the key ${issuingDID}#key-1`,
  })
  expect((await asked.json`decode ${issuingDID} --online`).checks).toMatchObject([
    { name: 'document', result: 'passed', detail: 'as the ledger of the daemon has it now' },
  ])
  const unknown = `did:prism:${'0'.repeat(64)}`
  expect((await asked.json`decode ${unknown} --online`).checks).toMatchObject([
    { result: 'not verified', detail: expect.stringContaining('ledger') },
  ])
  const nobody = user.as({ AGENT_URL: 'http://127.0.0.1:1' })
  expect((await nobody.json`decode ${issuingDID} --online`).checks).toMatchObject([
    { result: 'not verified', detail: expect.stringMatching(/daemon was asked.*127\.0\.0\.1:1/) },
  ])
})

test('a did:web is resolved with --online only', async () => {
  let document: object = {}
  await using server = await startServer((_, response) => {
    response.setHeader('content-type', 'application/did+json')
    response.end(JSON.stringify(document))
  })
  const web = `did:web:localhost%3A${server.port}`
  document = { id: web, verificationMethod: [] }
  expect((await user.json`decode ${web}`).checks).toMatchObject([
    { result: 'not verified', detail: 'did:web needs --online' },
  ])
  expect(server.connections()).toBe(0)
  expect((await user.json`decode ${web} --online`).checks).toMatchObject([{ result: 'passed' }])
})
