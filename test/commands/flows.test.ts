/** Choosing a credential for a proof, declining an offer and removing records, at the command line. */
import { publishSchema } from '../support/tenants.ts'
import { expect, test } from 'vitest'
import { decode } from '../support/invitation.ts'
import { fails, prints } from './_cli.ts'
import { serveTwoTenants } from './_agents.ts'

const { user, other: holder, call, url } = serveTwoTenants('holder')

/** Accepts a new offer by invitation. Returns the record ids of the holder and the issuer. */
async function offered(issuer: string, claim: string) {
  const { out } =
    await user.run`credential offer --invitation --issuing-did ${issuer} --claim ${claim} --auto --json`
  const { recordId, invitation } = JSON.parse(out)
  return {
    issued: recordId as string,
    held: (await holder.run`credential accept-invitation ${invitation.invitationUrl} -q`).out,
  }
}

/** Accepts a new request by invitation. Returns the prover's record id. */
async function asked(...flags: string[]) {
  const { out } = await user.run`proof request --invitation --any-issuer ${flags}`
  return (await holder.run`proof accept-invitation ${out} -q`).out
}

test('a proof uses the only matching credential or the named one', async () => {
  const issuer = (await user.json`did create`).longFormDid
  const subject = (await holder.json`did create`).longFormDid
  const accept = async (claim: string) => {
    const { held } = await offered(issuer, claim)
    expect((await holder.run`credential accept ${held} --subject ${subject} --wait`).out).toContain(
      'CredentialReceived',
    )
    return held
  }

  const first = await asked()
  const none = await holder.run`proof present ${first}`
  expect(none).toMatchObject(fails(3, /No credential[^]*Try: agent proof reject/))
  const alice = await accept('name=Alice')
  const shown = await holder.run`proof show ${first}`
  expect(shown.out).toMatch(
    new RegExp(
      `CREDENTIAL +TYPE +CLAIMS +ISSUER +RECEIVED\n${alice} +JWT +name=Alice +did:prism:\\w+ +(?:now|\\d+ s ago)`,
    ),
  )
  expect(shown.err).toContain(`Next:\n  agent proof present ${first}`)
  expect((await holder.run`proof present ${first} --wait`).out).toContain('PresentationSent')

  const bob = await accept('age:=42')
  const second = await asked()
  const several = await holder.run`proof present ${second}`
  expect(several).toMatchObject(fails(2, 'name one with --credential'))
  for (const words of [`${alice}  JWT   name=Alice`, `${bob}  JWT   age=42`])
    expect(several.err).toContain(words)
  expect(JSON.parse((await holder.run`proof present ${second} --json`).err)).toMatchObject({
    code: 'Usage',
    exitCode: 2,
  })
  expect((await holder.run`proof show ${second}`).err).toContain(
    `agent proof present ${second} --credential ${bob}`,
  )
  const named = await holder.run`proof present ${second} --credential ${bob}`
  expect(named).toMatchObject({ code: 0, err: expect.not.stringContaining('Warning') })

  const third = await asked('--schema', 'https://schemas.example/person')
  expect(await holder.run`proof present ${third}`).toMatchObject({
    code: 3,
    err: expect.stringMatching(
      /satisfies proofs\.0, the schema https:\/\/schemas\.example\/person[^]*WHY NOT[^]*accepts none of the schemas/,
    ),
  })
  expect((await holder.run`proof show ${third}`).out).toContain('No credential of this wallet answers it')
  const fourth = await asked('--schema', 'https://schemas.example/person')
  const warned = await holder.run`proof present ${fourth} --credential ${bob}`
  const warning = `Warning: the credential ${bob} does not answer the request, and the verifier may refuse it: The request accepts none of the schemas`
  expect(warned).toMatchObject({ code: 0, err: expect.stringContaining(warning) })

  expect((await holder.run`proof remove ${third}`).code).toBe(2)
  expect(await holder.run`proof remove ${third} --yes`).toMatchObject({
    code: 0,
    out: `removed  ${third}`,
  })
  expect((await holder.run`proof remove ${third} --yes`).code).toBe(3)
  expect((await holder.run`credential remove ${alice}`).code).toBe(2)
  expect(await holder.run`credential remove ${alice} --yes -q`).toMatchObject({
    code: 0,
    out: alice,
  })
  expect((await holder.run`credential show ${alice}`).code).toBe(3)
})

test('a request for two schemas is answered with a credential of each, and a missing schema is named', async () => {
  const issuer = (await user.json`did create`).longFormDid
  const subject = (await holder.json`did create`).longFormDid
  const author = issuer.split(':').slice(0, 3).join(':')
  const publish = (name: string) => publishSchema({ call, url: url() }, author, { name, properties: {} })
  const [first, second] = [await publish('first'), await publish('second')]
  const hold = async (schemaId: string) => {
    const body = { issuingDID: issuer, claims: { schema: schemaId }, schemaId, automaticIssuance: true }
    const { invitation } = await call('POST /issue-credentials/credential-offers/invitation', { body })
    const { out } = await holder.run`credential accept-invitation ${invitation!.invitationUrl} -q`
    await holder.run`credential accept ${out} --subject ${subject} --wait`
    return out
  }
  const ask = async () => {
    const body = { proofs: [{ schemaId: first }, { schemaId: second }] }
    const { invitation, presentationId } = await call('POST /present-proof/presentations/invitation', {
      body,
    })
    return {
      presentationId,
      id: (await holder.run`proof accept-invitation ${invitation!.invitationUrl} -q`).out,
    }
  }

  const held = await hold(first)
  const { id: halfAnswered } = await ask()
  expect(await holder.run`proof present ${halfAnswered} --credential ${held}`).toMatchObject({
    code: 0,
    err: expect.stringContaining(
      `Warning: none of the credentials satisfies proofs.1, the schema ${second}, and`,
    ),
  })
  const { id } = await ask()
  expect(await holder.run`proof present ${id}`).toMatchObject(fails(3, `proofs.1, the schema ${second}`))
  const other = await hold(second)
  expect((await holder.run`proof present ${id} --wait`).out).toContain('PresentationSent')

  const another = await hold(first)
  const { id: ambiguous, presentationId } = await ask()
  const several = await holder.run`proof present ${ambiguous}`
  expect(several).toMatchObject(fails(2, /name one for each schema[^]*--credential \S+ --credential/))
  for (const each of [held, another, other]) expect(several.err).toContain(each)
  expect(
    (await holder.run`proof present ${ambiguous} --credential ${another} --credential ${other}`).err,
  ).not.toContain('Warning')
  await expect
    .poll(async () => (await user.run`proof show ${presentationId}`).out)
    .toContain('PresentationVerified')
})

test('an offer is declined, and an issued credential is revoked before its record is deleted', async () => {
  const issuer = (await user.json`did create`).longFormDid
  const subject = (await holder.json`did create`).longFormDid
  const declined = await offered(issuer, 'a=b')
  expect(await holder.run`credential reject ${declined.held}`).toMatchObject(prints(0, 'ProblemReport'))
  await expect
    .poll(async () => (await user.run`credential show ${declined.issued}`).out)
    .toMatch(/last failure +the holder says: The holder declined/)
  expect((await holder.run`credential accept ${declined.held} --subject ${subject}`).code).toBe(5)
  expect((await user.run`credential remove ${declined.issued} --yes`).code).toBe(0)

  const { held, issued } = await offered(issuer, 'a=b')
  await holder.run`credential accept ${held} --subject ${subject} --wait`
  await expect.poll(async () => (await user.run`credential show ${issued}`).out).toContain('CredentialSent')
  expect((await holder.run`credential reject ${held}`).code).toBe(5)
  expect(await user.run`credential remove ${issued} --yes`).toMatchObject(fails(5, 'Revoke it first'))
  expect((await user.run`credential revoke ${issued} --yes`).code).toBe(0)
  expect((await user.run`credential remove ${issued} --yes`).code).toBe(0)
})

test('an invitation can be withdrawn, and a connection removed', async () => {
  const invite = async () =>
    (await user.json`connection invite`) as {
      connectionId: string
      invitation: { invitationUrl: string }
    }
  const taken = await invite()
  expect(await user.run`connection remove ${taken.connectionId}`).toMatchObject(fails(2, '--yes'))
  expect((await user.run`connection remove ${taken.connectionId} --yes`).code).toBe(0)
  expect((await user.run`connection remove ${taken.connectionId} --yes`).code).toBe(3)

  const made = await invite()
  expect((await holder.run`connection accept ${made.invitation.invitationUrl}`).code).toBe(0)
  await expect
    .poll(async () => (await user.run`connection show ${made.connectionId}`).out)
    .toContain('ConnectionResponseSent')
  const { out: waiting } = await user.run`proof request --any-issuer --connection ${made.connectionId} -q`
  const early = await user.run`connection remove ${made.connectionId} --yes`
  expect(early).toMatchObject({ code: 5, err: expect.stringContaining(waiting) })
  expect((await user.run`proof remove ${waiting} --yes`).code).toBe(0)
  expect((await user.run`connection remove ${made.connectionId} --yes`).code).toBe(0)
})

test('invitations, offers and requests end when --expires-in says', async () => {
  const issuer = (await user.json`did create`).longFormDid
  const lifetime = (record: Parameters<typeof decode>[0]) => {
    const { created_time: created, expires_time: expires } = decode(record)
    return expires - created
  }
  const long = ['--expires-in', '14d']
  const offer = ['credential', 'offer', '--issuing-did', issuer, '--claim', 'name=Alice', ...long]
  expect(lifetime(await user.json(['connection', 'invite', ...long]))).toBe(14 * 86_400)
  expect(lifetime(await user.json([...offer, '--invitation']))).toBe(14 * 86_400)
  expect(lifetime(await user.json(['proof', 'request', '--invitation', '--any-issuer', ...long]))).toBe(
    14 * 86_400,
  )
  expect(await user.run([...offer, '--connection', 'x'])).toMatchObject(fails(2, 'expires-in'))
  expect(await user.run`connection invite --expires-in 90d`).toMatchObject(fails(2, 'expiresIn'))
})
