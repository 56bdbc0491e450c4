/**
 * Two daemon processes: a presentation fails after revocation, even if the issuer is killed right after it.
 */
import { expect, test } from 'vitest'
import { Daemon, settingsIn, temporaryFolder } from '../_daemon.ts'
import { onboard, steps, type Job, type Party } from '../_main-flow.ts'
import { until } from '../_tenants.ts'
import { Sink } from '../_sink.ts'
import { isRevoked } from './_revocation.ts'

const adminKey = 'an-administrator-of-this-test'

async function call({ daemon, apiKey }: Party, key: string, body?: unknown): Promise<any> {
  const answer = await daemon.call(key, { apiKey, ...(body !== undefined && { body }) })
  expect(answer.status, `${key}: ${JSON.stringify(answer.body)}`).toBeLessThan(300)
  return answer.body
}

/** The event data of a party for a thread in a state. */
const announced = (sink: Sink, { walletId: id }: Party, subject: string, state: string) =>
  sink.waitFor(`${state} of ${subject}`, ({ walletId, data }) => {
    return (
      walletId === id &&
      data.thid === subject &&
      [data.state, data.protocolState, data.status].includes(state)
    )
  })

/** Requests a presentation over a connection. Returns the verifier's record in state `end`. */
async function present(
  { sink, holder, holderRecordId }: Job,
  verifier: Party,
  connectionId: string,
  end: string,
) {
  const { thid, presentationId: id } = await call(verifier, 'POST /present-proof/presentations', {
    connectionId,
  })
  const { data } = await announced(sink, holder, thid, 'RequestReceived')
  const body = { action: 'request-accept', proofId: [holderRecordId] }
  await call(holder, `PATCH /present-proof/presentations/${String(data.presentationId)}`, body)
  await announced(sink, verifier, thid, end)
  return call(verifier, `GET /present-proof/presentations/${id}`)
}

test(
  'a credential that one daemon revokes is refused by both, even if the first is killed',
  { timeout: 60_000 },
  async () => {
    await using folder = await temporaryFolder()
    await using sink = await Sink.open()
    const start = (name: string) =>
      Daemon.start({
        ...settingsIn(folder.path, name, adminKey),
        GLOBAL_WEBHOOK_URL: sink.url,
      })
    await using acme = await start('acme')
    await using elsewhere = await start('elsewhere')
    const [issuer, holder] = [
      await onboard(acme, adminKey, 'acme'),
      await onboard(elsewhere, adminKey, 'alice'),
    ]
    const verifier = await onboard(elsewhere, adminKey, 'verifier')
    const job = { sink, issuer, holder } as Job
    // All steps before the proof.
    for (const step of Object.values(steps).slice(0, 9)) await step(job)
    await announced(sink, holder, job.credentialThid, 'CredentialReceived')
    const invited = await call(verifier, 'POST /connections', { label: 'holder' })
    const invitation = new URL(invited.invitation.invitationUrl).searchParams.get('_oob')
    await call(holder, 'POST /connection-invitations', { invitation })
    await announced(sink, verifier, invited.thid, 'ConnectionResponseSent')
    await announced(sink, holder, invited.thid, 'ConnectionResponseReceived')
    const { credential } = await call(holder, `GET /issue-credentials/records/${job.holderRecordId}`)
    const jwt = Buffer.from(credential, 'base64url').toString()
    const presentBoth = async (end: string) => [
      await present(job, issuer, job.connectionId, end),
      await present(job, verifier, invited.connectionId, end),
    ]

    await presentBoth('PresentationVerified')
    expect(await isRevoked(jwt)).toBe(false)
    await call(issuer, `PATCH /credential-status/revoke-credential/${job.recordId}`)
    await acme.stop('SIGKILL')
    await acme.start()
    expect(await isRevoked(jwt)).toBe(true)
    const held = await until(
      'the revocation notice',
      () => call(holder, `GET /issue-credentials/records/${job.holderRecordId}`),
      (record) => record.revoked === true,
    )
    expect(held.protocolState).toBe('CredentialReceived')
    for (const { metaLastFailure } of await presentBoth('PresentationVerificationFailed')) {
      expect(metaLastFailure.detail).toMatch(/the credential is revoked/)
    }
  },
)
