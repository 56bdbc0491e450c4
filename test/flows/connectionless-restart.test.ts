/** Two daemons, killed between any two transitions, issue and present by invitations without a connection. */
import { expect, test } from 'vitest'
import { Daemon, settingsIn, temporaryFolder } from '../_daemon.ts'
import { onboard, type Party } from '../_main-flow.ts'
import { until } from '../_tenants.ts'

const adminKey = 'an-administrator-of-this-test'
const records = 'GET /issue-credentials/records'
const presentations = 'GET /present-proof/presentations'

async function call({ daemon, apiKey }: Party, key: string, body?: unknown): Promise<any> {
  const answer = await daemon.call(key, { apiKey, ...(body !== undefined && { body }) })
  expect(answer.status, `${key}: ${JSON.stringify(answer.body)}`).toBeLessThan(300)
  return answer.body
}

/** The record of a list, once it is in a state. */
async function reached(party: Party, list: string, state: string): Promise<any> {
  const ask = async () => (await call(party, list)).contents[0]
  return until(state, ask, (record) => (record?.protocolState ?? record?.status) === state)
}

test(
  'an invitation, its answer and the following steps survive kill -9 of both sides',
  { timeout: 120_000 },
  async () => {
    await using folder = await temporaryFolder()
    const start = (name: string) =>
      Daemon.start({
        ...settingsIn(folder.path, name, adminKey),
      })
    await using acme = await start('acme')
    await using home = await start('home')
    const [issuer, holder] = [await onboard(acme, adminKey, 'acme'), await onboard(home, adminKey, 'home')]
    const newDid = async (party: Party, purpose: string): Promise<string> => {
      const documentTemplate = { publicKeys: [{ id: 'key-1', purpose }] }
      return (await call(party, 'POST /did-registrar/dids', { documentTemplate })).longFormDid
    }
    const crash = async () => {
      await Promise.all([acme, home].map((daemon) => daemon.stop('SIGKILL')))
      await Promise.all([acme, home].map((daemon) => daemon.start()))
    }

    const issuingDID = await newDid(issuer, 'assertionMethod')
    const offered = { issuingDID, claims: { a: 1 }, automaticIssuance: true }
    const { invitation } = await call(issuer, 'POST /issue-credentials/credential-offers/invitation', offered)
    await crash()
    const accept = { invitation: invitation.invitationUrl }
    const { recordId } = await call(
      holder,
      'POST /issue-credentials/credential-offers/accept-invitation',
      accept,
    )
    await crash()
    const subjectId = await newDid(holder, 'authentication')
    await call(holder, `POST /issue-credentials/records/${recordId}/accept-offer`, { subjectId })
    await crash()
    await reached(holder, records, 'CredentialReceived')
    await reached(issuer, records, 'CredentialSent')

    const asked = await call(issuer, 'POST /present-proof/presentations/invitation', {})
    await crash()
    const taken = { invitation: asked.invitation.invitationUrl }
    const { presentationId } = await call(
      holder,
      'POST /present-proof/presentations/accept-invitation',
      taken,
    )
    await crash()
    await call(holder, `PATCH /present-proof/presentations/${presentationId}`, {
      action: 'request-accept',
      proofId: [recordId],
    })
    await crash()
    await reached(issuer, presentations, 'PresentationVerified')
    await reached(holder, presentations, 'PresentationSent')
  },
)
