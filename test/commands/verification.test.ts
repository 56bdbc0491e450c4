/**
 * `agent credential verify`, `agent policy …`, `agent presentation-definition …` and `agent proof request
 * --policy`.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connect, issue, newDid, startPair } from '../support/tenants.ts'
import { credential as expired } from '../credentials/codecs/_forge.ts'
import { issueSdJwtTo } from '../flows/_sd-jwt.ts'
import { type Commands, fails, prints, saysOnly, useUser, words } from './_cli.ts'

const noId = '00000000-0000-4000-8000-000000000000'

const user = useUser()
let pair: Awaited<ReturnType<typeof startPair>>
let connectionId: string
let issuer: string
let issued: { recordId: string; credential: string }
let run: Commands['run']
let json: Commands['json']

beforeAll(async () => {
  pair = await startPair()
  ;({ inviterConnectionId: connectionId } = await connect(pair.issuer, pair.holder))
  issuer = (await newDid(pair.issuer, 'assertionMethod')).did
  const subject = await newDid(pair.holder, 'authentication')
  issued = await issue(pair.issuer, pair.holder, connectionId, issuer, subject.did, {
    name: 'Alice',
    age: 42,
  })
  ;({ run, json } = user.as({ AGENT_URL: pair.agent.url, AGENT_API_KEY: pair.issuer.apiKey }))
})
afterAll(() => pair[Symbol.asyncDispose]())

describe('credential verify', () => {
  test('a valid credential passes every check (0)', async () => {
    const { code, out, err } = await run`credential verify ${issued.credential} --issuer ${issuer}`
    expect({ code, err }).toEqual({ code: 0, err: '' })
    const lines = out.split('\n')
    expect(lines).toHaveLength(9)
    expect(lines.filter((line) => !/ok: /.test(line))).toEqual([])
    expect(out).toMatch(/^signature +ok: made by a key of its issuer$/m)
    expect(out).toMatch(/^issuer +ok: the one you named$/m)
  })

  test('an invalid credential fails (8) and the failed check is reported', async () => {
    const { code, out } = await run`credential verify ${expired}`
    expect(code).toBe(8)
    expect(out).toMatch(/^valid until +NO: valid until 20\S+Z$/m)
    expect(out).toMatch(/^signature +NO: /m)
    expect(out).toMatch(/^schemas +NO: /m)
    expect(out).toMatch(/^algorithm +ok: /m)
    expect(await run`credential verify ${expired} --quiet`).toMatchObject({ code: 8, out: 'invalid' })
    for (const text of ['foo', 'no token', 'a.b.c', `${Buffer.from('[]').toString('base64url')}.e30.AA`]) {
      const none = await run`credential verify ${text}`
      expect(none, text).toMatchObject(fails(8, /^Error: This is not a credential: .*JWT.*SD-JWT\.$/))
    }
    const other = `${Buffer.from('{"alg":"ES256K"}').toString('base64url')}.e30.AA`
    const unreadable = await run`credential verify ${other}`
    expect(unreadable).toMatchObject(prints(8, /^content +NO: the /))
    expect(unreadable.out).toMatch(/^valid until +not checked$/m)
  })

  test('a revoked credential says so, and no other check fails (8)', async () => {
    const { did } = await newDid(pair.holder, 'authentication')
    const { credential, issuerRecordId: id } = await issue(
      pair.issuer,
      pair.holder,
      connectionId,
      issuer,
      did,
    )
    await pair.issuer.call('PATCH /credential-status/revoke-credential/{id}', { path: { id } })
    const { code, out } = await run`credential verify ${credential}`
    expect([code, out.match(/NO:/g)]).toEqual([8, ['NO:']])
    expect(out).toMatch(/^status +NO: the status check failed: .*revoked$/m)
  })

  test('a credential is read from a file or standard input, and verified at a given time', async () => {
    const path = join(user.folder, 'credential.jwt')
    writeFileSync(path, `${issued.credential}\n`)
    expect(await run`credential verify @${path} -q`).toMatchObject({ code: 0, out: 'valid' })
    const early = await run(words`credential verify - --at 2020-01-01T00:00:00Z --json`, {
      input: issued.credential,
    })
    const { valid, credential, result } = JSON.parse(early.out)
    expect({ code: early.code, valid, credential }).toEqual({
      code: 8,
      valid: false,
      credential: issued.credential,
    })
    expect(result.filter(({ success }: { success: boolean }) => !success)).toEqual([
      { verification: 'NotBeforeCheck', success: false, detail: expect.stringMatching(/^Valid from 20/) },
    ])
    const other =
      await run`credential verify ${issued.credential} --issuer did:example:1 --audience did:example:2`
    expect(other).toMatchObject({ code: 8, out: expect.stringMatching(/issuer +NO: [^]*audience +NO: /) })
  })

  test.each([
    ['an instant that is none', ['x.y.z', '--at', 'tomorrow'], 'tomorrow'],
    ['a file that is not there', ['@/nothing/here'], 'cannot be read: there is no such file or folder'],
    ['nothing', ['-'], 'There is no credential'],
  ])('%s is a usage error (2)', async (_, args, reason) => {
    expect(await run(words`credential verify ${args}`, { input: ' ' })).toMatchObject(fails(2, reason))
  })
})

describe('credential verify with an SD-JWT', () => {
  let token: string
  beforeAll(async () => {
    const { issuer: issuing, holder } = pair
    const { did: issuingDID } = await newDid(issuing, 'assertionMethod', 'Ed25519')
    const { did: subjectId } = await newDid(holder, 'authentication', 'Ed25519')
    token = (await issueSdJwtTo({ issuer: issuing, holder, connectionId, issuingDID, subjectId })).credential
    issuer = issuingDID
  })

  test('a valid SD-JWT passes as an argument, in a file or on standard input', async () => {
    const { code, out, err } = await run`credential verify ${token} --issuer ${issuer}`
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out.split('\n').filter((line) => !/ok: /.test(line))).toEqual([])
    expect(out.split('\n')).toHaveLength(9)
    expect(out).toMatch(/^standard +ok: .*SD-JWT VC/m)
    const path = join(user.folder, 'credential.sd-jwt')
    writeFileSync(path, `${token}\n`)
    expect(await run`credential verify @${path} -q`).toMatchObject({ code: 0, out: 'valid' })
    const { valid, credential } = JSON.parse(
      (await run(words`credential verify - --json`, { input: token })).out,
    )
    expect({ valid, credential }).toEqual({ valid: true, credential: token })
  })

  test('an added claim fails (8), and unreadable parts are not printed', async () => {
    const forged = `${token}${Buffer.from('["salt", "admin", true]').toString('base64url')}~`
    const { code, out } = await run`credential verify ${forged} --issuer ${issuer}`
    expect(code).toBe(8)
    expect(out).toMatch(/^content +NO: .*disclosure/m)
    expect(out).toMatch(/^integrity +not checked$/m)
    expect(out).toMatch(/^issuer +ok: /m)
  })

  test('the schema is checked if a registry has the type', async () => {
    const [header, , signature] = token.split('.')
    const typed = (vct: string) =>
      [
        header,
        Buffer.from(JSON.stringify({ iss: issuer, vct })).toString('base64url'),
        signature!.split('~')[0],
      ].join('.') + '~'
    const asked = async (vct: string) => /^schemas /m.test((await run`credential verify ${typed(vct)}`).out)
    expect(await asked(`${pair.agent.url}/schema-registry/schemas/${noId}`)).toBe(true)
    expect(await asked('https://a.example/person')).toBe(false)
  })
})

describe('policies', () => {
  test('are created, listed, printed, updated and deleted', async () => {
    expect(await run`policy list`).toMatchObject(saysOnly('agent policy create'))
    const made = await json`policy create --name p --schema ${noId} --trust-issuer ${issuer}`
    const constraint = {
      schemaId: `${pair.agent.url}/schema-registry/schemas/${noId}`,
      trustedIssuers: [issuer],
    }
    expect(made).toMatchObject({ nonce: 0, name: 'p', description: '', constraints: [constraint] })
    expect((await json`policy list --name p`).contents).toEqual([made])
    expect(await json`policy show ${made.id}`).toEqual(made)
    expect((await run`policy show ${made.id}`).out).toMatch(
      new RegExp(`^accepts +${constraint.schemaId} of ${issuer}$`, 'm'),
    )

    const renamed = await json`policy update ${made.id} --description renamed`
    expect(renamed).toMatchObject({ nonce: 1, name: 'p', description: 'renamed', constraints: [constraint] })
    expect((await run`policy update ${made.id} --constraints []`).out).toMatch(/^accepts +any credential$/m)
    const late = await run`policy update ${made.id} --name q --version 1 --json`
    expect({ code: late.code, report: JSON.parse(late.err) }).toMatchObject({
      code: 5,
      report: { status: 409 },
    })
    expect(await json`policy show ${made.id}`).toMatchObject({ nonce: 2, name: 'p', constraints: [] })

    expect(await run`policy remove ${made.id} --yes -q`).toMatchObject({ code: 0, out: made.id })
    expect((await run`policy show ${made.id}`).code).toBe(3)
  })

  test.each([
    ['no name', ['create']],
    ['constraints that are not JSON', ['create', '--name', 'p', '--constraints', 'x']],
    ['constraints that are not a list', ['create', '--name', 'p', '--constraints', '{}']],
    ['a constraint that is none', ['create', '--name', 'p', '--constraints', '[{}]']],
    ['an issuer without a schema', ['create', '--name', 'p', '--trust-issuer', 'did:x:y']],
    ['nothing to change', ['update', noId]],
  ])('%s is a usage error (2)', async (_, args) => {
    expect(await run`policy ${args}`).toMatchObject({ code: 2, out: '' })
  })

  test('restrict a proof request', async () => {
    const { id } = await json`policy create --name p --constraints [{"schemaId":"https://a.example/1"}]`
    const asking = words`proof request --connection ${connectionId} --policy ${id}`
    expect(await run(asking)).toMatchObject({ code: 2, err: expect.stringContaining('no trusted issuers') })
    const request = await json`${asking} --any-issuer`
    expect(request.policyId).toBe(id)
    expect((await run`proof show ${request.presentationId}`).out).toMatch(new RegExp(`^policy +${id}$`, 'm'))
    expect((await run`proof request --connection ${connectionId} --policy ${noId}`).code).toBe(3)
  })
})

test('presentation definitions are created and listed, and print the credentials that satisfy them', async () => {
  const topic = 'presentation-definition'
  const { run, json } = user.as({ AGENT_URL: pair.agent.url, AGENT_API_KEY: pair.holder.apiKey })
  expect(await run`${topic} list`).toMatchObject(saysOnly(`agent ${topic} create`))
  const fields = [{ path: ['$.vc.credentialSubject.age'], filter: { type: 'integer', minimum: 18 } }]
  const made = await json`
    ${topic} create
    ${JSON.stringify({ input_descriptors: [{ id: 'adult', constraints: { fields } }] })}
  `
  expect((await json`${topic} list`).contents).toEqual([made])
  expect((await run`${topic} match ${made.id}`).out).toMatch(new RegExp(`^adult +${issued.recordId}$`, 'm'))
  expect(await run`${topic} match ${made.id} -q`).toMatchObject({ code: 0, out: issued.recordId })
  const none = await json`
    ${topic} create
    ${JSON.stringify({ input_descriptors: [{ id: 'x', constraints: { fields: [{ path: ['$.x'] }] } }] })}
  `
  expect(await run`${topic} match ${none.id}`).toMatchObject(prints(0, /^x +none$/m))
  expect((await run`${topic} match ${noId}`).code).toBe(3)
  expect(await run`${topic} create {"input_descriptors":[{}]}`).toMatchObject(
    fails(2, 'input_descriptors.0.id'),
  )
})
