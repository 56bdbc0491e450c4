/** Choosing a credential for a proof, declining an offer and removing records, at the command line. */
import { expect, test } from 'vitest'
import { serveTwoTenants, slow } from './_two-tenants.ts'

const { user, asOther: asHolder, jsonAsOther: jsonAsHolder, call, url } = serveTwoTenants('holder')

/** Accepts a new offer by invitation. Returns the record ids of the holder and the issuer. */
async function offered(issuer: string, claim: string) {
  const { out } = await user.run([
    'credential',
    'offer',
    '--invitation',
    '--issuing-did',
    issuer,
    '--claim',
    claim,
    '--auto',
    '--json',
  ])
  const { recordId, invitation } = JSON.parse(out)
  return {
    issued: recordId as string,
    held: (await asHolder('credential', 'accept-invitation', invitation.invitationUrl, '-q')).out,
  }
}

/** Accepts a new request by invitation. Returns the prover's record id. */
async function asked(...flags: string[]) {
  const { out } = await user.run(['proof', 'request', '--invitation', ...flags])
  return (await asHolder('proof', 'accept-invitation', out, '-q')).out
}

test('a proof uses the only matching credential or the named one', { timeout: slow }, async () => {
  const issuer = (await user.json(['did', 'create'])).longFormDid
  const subject = (await jsonAsHolder('did', 'create')).longFormDid
  const accept = async (claim: string) => {
    const { held } = await offered(issuer, claim)
    expect((await asHolder('credential', 'accept', held, '--subject', subject, '--wait')).out).toContain(
      'CredentialReceived',
    )
    return held
  }

  const first = await asked()
  const none = await asHolder('proof', 'present', first)
  expect(none).toMatchObject({
    code: 3,
    out: '',
    err: expect.stringMatching(/No credential[^]*Try: agent proof reject/),
  })
  const alice = await accept('name=Alice')
  const shown = await asHolder('proof', 'show', first)
  expect(shown.out).toMatch(new RegExp(`CREDENTIAL +CLAIMS +ISSUER\n${alice} +name +did:prism:`))
  expect(shown.err).toContain(`Next:\n  agent proof present ${first}`)
  expect((await asHolder('proof', 'present', first, '--wait')).out).toContain('PresentationSent')

  const bob = await accept('age:=42')
  const second = await asked()
  const several = await asHolder('proof', 'present', second)
  expect(several).toMatchObject({
    code: 2,
    out: '',
    err: expect.stringContaining('name one with --credential'),
  })
  for (const words of [`${alice}  name`, `${bob}  age`]) expect(several.err).toContain(words)
  expect(JSON.parse((await asHolder('proof', 'present', second, '--json')).err)).toMatchObject({
    code: 'Usage',
    exitCode: 2,
  })
  expect((await asHolder('proof', 'show', second)).err).toContain(
    `agent proof present ${second} --credential ${bob}`,
  )
  const named = await asHolder('proof', 'present', second, '--credential', bob)
  expect(named).toMatchObject({ code: 0, err: expect.not.stringContaining('Warning') })

  const third = await asked('--schema', 'https://schemas.example/person')
  expect(await asHolder('proof', 'present', third)).toMatchObject({
    code: 3,
    err: expect.stringMatching(
      /satisfies proofs\.0, the schema https:\/\/schemas\.example\/person[^]*WHY NOT[^]*accepts none of the schemas/,
    ),
  })
  expect((await asHolder('proof', 'show', third)).out).toContain('No credential of this wallet answers it')
  const fourth = await asked('--schema', 'https://schemas.example/person')
  const warned = await asHolder('proof', 'present', fourth, '--credential', bob)
  const warning = `Warning: the credential ${bob} does not answer the request, and the verifier may refuse it: The request accepts none of the schemas`
  expect(warned).toMatchObject({ code: 0, err: expect.stringContaining(warning) })

  expect((await asHolder('proof', 'remove', third)).code).toBe(2)
  expect(await asHolder('proof', 'remove', third, '--yes')).toMatchObject({
    code: 0,
    out: `removed  ${third}`,
  })
  expect((await asHolder('proof', 'remove', third, '--yes')).code).toBe(3)
  expect((await asHolder('credential', 'remove', alice)).code).toBe(2)
  expect(await asHolder('credential', 'remove', alice, '--yes', '-q')).toMatchObject({
    code: 0,
    out: alice,
  })
  expect((await asHolder('credential', 'show', alice)).code).toBe(3)
})

test(
  'a request for two schemas is answered with a credential of each, and a missing schema is named',
  { timeout: slow },
  async () => {
    const issuer = (await user.json(['did', 'create'])).longFormDid
    const subject = (await jsonAsHolder('did', 'create')).longFormDid
    const publishSchema = async (name: string) => {
      const schema = {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        properties: {},
      }
      const type = 'https://w3c-ccg.github.io/vc-json-schemas/schema/2.0/schema.json'
      const author = issuer.split(':').slice(0, 3).join(':')
      const { self } = await call('POST /schema-registry/schemas', {
        body: { name, version: '1.0.0', type, author, schema },
      })
      return new URL(self, url()).href
    }
    const [first, second] = [await publishSchema('first'), await publishSchema('second')]
    const hold = async (schemaId: string) => {
      const body = { issuingDID: issuer, claims: { schema: schemaId }, schemaId, automaticIssuance: true }
      const { invitation } = await call('POST /issue-credentials/credential-offers/invitation', { body })
      const { out } = await asHolder('credential', 'accept-invitation', invitation!.invitationUrl, '-q')
      await asHolder('credential', 'accept', out, '--subject', subject, '--wait')
      return out
    }
    const ask = async () => {
      const body = { proofs: [{ schemaId: first }, { schemaId: second }] }
      const { invitation, presentationId } = await call('POST /present-proof/presentations/invitation', {
        body,
      })
      return {
        presentationId,
        id: (await asHolder('proof', 'accept-invitation', invitation!.invitationUrl, '-q')).out,
      }
    }

    const held = await hold(first)
    const { id: halfAnswered } = await ask()
    expect(await asHolder('proof', 'present', halfAnswered, '--credential', held)).toMatchObject({
      code: 0,
      err: expect.stringContaining(
        `Warning: none of the credentials satisfies proofs.1, the schema ${second}, and`,
      ),
    })
    const { id } = await ask()
    expect(await asHolder('proof', 'present', id)).toMatchObject({
      code: 3,
      err: expect.stringContaining(`proofs.1, the schema ${second}`),
    })
    const other = await hold(second)
    expect((await asHolder('proof', 'present', id, '--wait')).out).toContain('PresentationSent')

    const another = await hold(first)
    const { id: ambiguous, presentationId } = await ask()
    const several = await asHolder('proof', 'present', ambiguous)
    expect(several).toMatchObject({
      code: 2,
      err: expect.stringMatching(/name one for each schema[^]*--credential \S+ --credential/),
    })
    for (const each of [held, another, other]) expect(several.err).toContain(each)
    expect(
      (await asHolder('proof', 'present', ambiguous, '--credential', another, '--credential', other)).err,
    ).not.toContain('Warning')
    await expect
      .poll(async () => (await user.run(['proof', 'show', presentationId])).out, { timeout: 30_000 })
      .toContain('PresentationVerified')
  },
)

test(
  'an offer is declined, and an issued credential is revoked before its record is deleted',
  { timeout: slow },
  async () => {
    const issuer = (await user.json(['did', 'create'])).longFormDid
    const subject = (await jsonAsHolder('did', 'create')).longFormDid
    const declined = await offered(issuer, 'a=b')
    expect(await asHolder('credential', 'reject', declined.held)).toMatchObject({
      code: 0,
      out: expect.stringContaining('ProblemReport'),
    })
    await expect
      .poll(async () => (await user.run(['credential', 'show', declined.issued])).out, { timeout: 30_000 })
      .toMatch(/last failure +The holder declined/)
    expect((await asHolder('credential', 'accept', declined.held, '--subject', subject)).code).toBe(5)
    expect((await user.run(['credential', 'remove', declined.issued, '--yes'])).code).toBe(0)

    const { held, issued } = await offered(issuer, 'a=b')
    await asHolder('credential', 'accept', held, '--subject', subject, '--wait')
    await expect
      .poll(async () => (await user.run(['credential', 'show', issued])).out, { timeout: 30_000 })
      .toContain('CredentialSent')
    expect((await asHolder('credential', 'reject', held)).code).toBe(5)
    expect(await user.run(['credential', 'remove', issued, '--yes'])).toMatchObject({
      code: 5,
      err: expect.stringContaining('Revoke it first'),
    })
    expect((await user.run(['credential', 'revoke', issued, '--yes'])).code).toBe(0)
    expect((await user.run(['credential', 'remove', issued, '--yes'])).code).toBe(0)
  },
)

test('an invitation can be withdrawn until it is accepted', { timeout: slow }, async () => {
  const invite = async () =>
    (await user.json(['connection', 'invite'])) as {
      connectionId: string
      invitation: { invitationUrl: string }
    }
  const taken = await invite()
  expect(await user.run(['connection', 'remove', taken.connectionId])).toMatchObject({
    code: 2,
    err: expect.stringContaining('--yes'),
  })
  expect((await user.run(['connection', 'remove', taken.connectionId, '--yes'])).code).toBe(0)
  expect((await user.run(['connection', 'remove', taken.connectionId, '--yes'])).code).toBe(3)

  const made = await invite()
  expect((await asHolder('connection', 'accept', made.invitation.invitationUrl)).code).toBe(0)
  await expect
    .poll(async () => (await user.run(['connection', 'show', made.connectionId])).out, { timeout: 30_000 })
    .toContain('ConnectionResponseSent')
  const late = await user.run(['connection', 'remove', made.connectionId, '--yes'])
  expect(late).toMatchObject({ code: 5, err: expect.stringContaining('unanswered invitation') })
})
