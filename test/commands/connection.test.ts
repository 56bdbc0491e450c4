/** Labels of connections and automatic acceptance, at the command line. */
import { expect, test } from 'vitest'
import { fails, type Line, words } from './_cli.ts'
import { serveTwoTenants } from './_agents.ts'

const { user, other: holder } = serveTwoTenants('holder')

test('an invitation is printed with a working link and the id of its connection', async () => {
  const { out, err } = await user.run`connection invite`
  expect(out).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/i\?_oobid=[\w-]{16}$/)
  const page = await fetch(out, { headers: { accept: 'text/html' } })
  expect(page.status).toBe(200)
  const id = /^connection {2}(\S+)$/m.exec(err)![1]!
  expect((await user.run`connection show ${id}`).out).toContain(out)
  const long = (await user.run`connection show ${id} --long`).out
  expect(long).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/invitation\?_oob=[\w-]+=*$/m)
  expect((await holder.run`connection accept ${out}`).code).toBe(0)
  // The API keeps the URL format of the Cloud Agent.
  const made = await user.json`connection invite`
  expect(made.invitation.invitationUrl).toMatch(/^https:\/\/my\.domain\.com\/path\?_oob=/)
})

test('an invitee sets the label of a connection when connecting, changes it and removes it', async () => {
  const { invitation } = await user.json`connection invite --label Mine`
  const accepted = await holder.json`connection accept ${invitation.invitationUrl} --label Acme --wait`
  expect(accepted).toMatchObject({ label: 'Acme', state: 'ConnectionResponseReceived' })
  // The other side does not receive the label.
  expect(JSON.stringify(await user.json`connection list`)).not.toContain('Acme')
  const id = accepted.connectionId
  expect((await holder.run`connection update ${id} --label ${'Acme Ltd'}`).out).toContain(
    'label       Acme Ltd',
  )
  expect((await holder.run`connection list`).out).toContain('Acme Ltd')
  expect(await holder.json`connection update ${id} --label ${''}`).not.toHaveProperty('label')
  expect((await holder.run`connection list`).out).toContain(`127.0.0.1:`)
})

test('a holder sets automatic acceptance when connecting, changes it and disables it', async () => {
  const issuer = (await user.json`did create`).longFormDid
  const subject = (await holder.json`did create`).longFormDid
  const { connectionId: issuing, invitation } = await user.json`connection invite`

  expect((await holder.run`connection accept ${invitation.invitationUrl} --accept-offers`).code).toBe(2)
  expect((await holder.run`connection accept ${invitation.invitationUrl} --subject ${subject}`).code).toBe(2)
  const accepted =
    await holder.run`connection accept ${invitation.invitationUrl} --accept-offers --subject ${subject} -q`
  expect(accepted.code).toBe(0)
  const id = accepted.out
  await expect.poll(async () => (await user.run`connection show ${issuing}`).out).toContain('ResponseSent')
  expect((await holder.run`connection show ${id}`).out).toContain(
    `offers      all accepted without a person, about ${subject}`,
  )

  const offer = words`credential offer --connection ${issuing} --issuing-did ${issuer} --claim a=b --auto`
  expect((await user.run(offer)).code).toBe(0)
  await expect.poll(async () => (await holder.run`credential list`).out).toContain('CredentialReceived')

  const update = (...flags: Line) => holder.run`connection update ${id} ${words(...flags)}`
  for (const flags of [
    [],
    ['--accept-offers'],
    ['--no-accept-offers', '--subject', subject],
    ['--format', 'jwt'],
  ])
    expect((await update(flags)).code, flags.join(' ')).toBe(2)
  expect(await update`--accept-offers --subject ${subject} --key-id none`).toMatchObject(
    fails(2, 'key with the id none not found'),
  )
  const narrowed =
    await update`--accept-offers --subject ${subject} --format sdjwt --schema https://schemas.example/a`
  expect(narrowed.out).toContain(
    'offers      those of SDJWT, https://schemas.example/a accepted without a person',
  )
  const trusting = await update`
    --accept-offers --subject ${subject} --trust-issuer did:web:a.example --trust-issuer ${issuer}
  `
  expect(trusting.out.replaceAll(/\s+/g, ' ')).toContain(
    `credentials of did:web:a.example or ${issuer} alone are kept`,
  )
  expect(await update`--accept-offers --subject ${subject} --trust-issuer acme`).toMatchObject(
    fails(3, 'There is no DID "acme".'),
  )
  expect((await update`--trust-issuer ${issuer}`).code).toBe(2)
  expect(await update`--no-accept-offers -q`).toMatchObject({ code: 0, out: id })
  expect((await holder.run`connection show ${id}`).out).not.toContain('without a person')

  const inviting = await holder.run`connection invite --accept-offers --subject ${subject} --json`
  expect(JSON.parse(inviting.out).automaticAcceptance).toEqual({
    credentialOffers: true,
    subjectId: subject,
  })
})
