/** Flows that release 0.1.0 left open continue to their end with the current release. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createClient, type Client } from '../../../daemon/client/client.ts'
import type { Event } from '../../../src/wallet/events/event.ts'
import { startAgent } from '../../support/agent.ts'
import { connectionIn, credentialIn, presentationIn, until } from '../../support/tenants.ts'
import { unpack, variablesOf } from './_folder.ts'
import { gatewayHost, openFlowVariables, openGateway, webhookPort } from './_open-flows.ts'

/** Receives the events of the folder's webhook. */
async function openWebhook() {
  const events: Event[] = []
  const server = createServer(async (request, response) => {
    events.push(JSON.parse(Buffer.concat(await request.toArray()).toString()) as Event)
    response.end()
  })
  await new Promise<void>((resolve) => server.listen(webhookPort, gatewayHost, resolve))
  return {
    events,
    [Symbol.asyncDispose]: async () => void (await new Promise((resolve) => server.close(resolve))),
  }
}

const accept = async (call: Client, thid: string, subjectId: string) => {
  const { recordId } = await credentialIn(call, thid, 'OfferReceived')
  await call('POST /issue-credentials/records/{recordId}/accept-offer', {
    path: { recordId },
    body: { subjectId },
  })
}

test('connections, credentials, proofs, DID operations and webhooks of a folder of release 0.1.0 continue', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'identity-agent-'))
  const folder = unpack('2', dataDir)
  const flows = folder.flows!
  {
    await using webhook = await openWebhook()
    await using gateway = await openGateway()
    await using agent = await startAgent({ ...variablesOf(folder), ...openFlowVariables }, { dataDir })
    gateway.forwardTo(agent.didcommUrl)
    const [issuer, holder] = folder.tenants.map(({ apiKey }) =>
      createClient(agent.url, { apikey: apiKey }),
    ) as [Client, Client]

    // Jobs of the worker: a connection request, an accepted offer, an offer.
    await connectionIn(holder, flows.connection, 'ConnectionResponseReceived')
    await connectionIn(issuer, flows.connection, 'ConnectionResponseSent')
    await credentialIn(holder, flows.answered, 'CredentialReceived')
    await accept(holder, flows.unsentOffer, flows.subjectId)
    await credentialIn(holder, flows.unsentOffer, 'CredentialReceived')

    // Answers of the other side.
    await accept(holder, flows.offered, flows.subjectId)
    await credentialIn(holder, flows.offered, 'CredentialReceived')
    const { presentationId } = await presentationIn(holder, flows.proof, 'RequestReceived')
    await holder('PATCH /present-proof/presentations/{presentationId}', {
      path: { presentationId },
      body: { action: 'request-accept', proofId: [flows.credentialId] },
    })
    await presentationIn(issuer, flows.proof, 'PresentationVerified')

    for (const didRef of [flows.submittedDid, flows.unsubmittedDid])
      await until(
        'the publication',
        () => issuer('GET /did-registrar/dids/{didRef}', { path: { didRef } }),
        ({ status }) => status === 'PUBLISHED',
      )
    for (const wanted of [flows.connection, flows.unsentOffer])
      await until(
        'the event',
        () => Promise.resolve(webhook.events),
        (events) => events.some(({ data }) => data['thid'] === wanted),
      )
    const jobs = () =>
      agent.agent.wallets.use(folder.tenants[0]!.walletId, ({ db }) =>
        db.selectFrom('job').selectAll().execute(),
      )
    await until('an empty queue', jobs, (rows) => rows.length === 0)
  }
  // The files of page checksums that the release wrote are gone.
  expect(readdirSync(join(dataDir, 'wallets')).toSorted()).toEqual(
    folder.tenants.map(({ walletId }) => `${walletId}.db`),
  )
  rmSync(dataDir, { recursive: true })
})
