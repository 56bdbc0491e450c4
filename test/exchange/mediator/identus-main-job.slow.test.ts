/** The stock Identus wallet behind this mediator: connection, issuance and proof, by polling and live. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import { sharedAgent } from '../../support/agent.ts'
import { newDid, presentationIn, publishSchema } from '../../support/tenants.ts'
import { startMediatedHolder } from '../../identus/_holder.ts'
import { sdk } from '../../identus/_sdk.ts'
import { answerRequest, ask, connect, issue } from '../../identus/_steps.ts'
import { sendUntil } from './_mediator.ts'

// Node 22 and later have their own.
vi.stubGlobal('WebSocket', WebSocket)
beforeEach(() => void vi.spyOn(console, 'log').mockImplementation(() => undefined))
afterEach(() => void vi.restoreAllMocks())

test.each([
  ['polling', false],
  ['live delivery', true],
])(
  'a stock wallet behind this mediator connects, holds a credential and presents it, with %s',
  async (_, liveMode) => {
    const host = await sharedAgent({ AGENT_MEDIATOR: 'true' })
    const issuer = await host.newTenant('issuer')
    const { did: issuingDID } = await newDid(issuer, 'assertionMethod')
    await using holder = await startMediatedHolder(`${host.url}/dids/`, {
      mediatorDID: host.agent.mediator!.did,
      liveMode,
    })
    const own = (await holder.agent.createNewPeerDID([], true)).toString()
    const arrived = holder.next('https://didcomm.org/basicmessage/2.0/message')
    await sendUntil(arrived, own, { did: host.agent.mediator!.did, url: host.didcommUrl })

    const { connectionId } = await connect(holder, issuer)
    const schemaId = await publishSchema(issuer, issuingDID)
    const { credential } = await issue(holder, issuer, {
      connectionId,
      issuingDID,
      schemaId,
      claims: { name: 'Alice' },
      validityPeriod: 3_600,
    })
    expect(await holder.agent.pluto.getAllCredentials()).toHaveLength(1)

    const { thid } = await ask(issuer, connectionId, [{ schemaId, trustIssuers: [issuingDID] }])
    await answerRequest(
      holder.agent,
      await holder.next(sdk.ProtocolType.DidcommRequestPresentation),
      credential,
    )
    const { presentationId } = await presentationIn(issuer.call, thid, 'PresentationVerified')
    const path = { presentationId }
    const accepted = await issuer.call('PATCH /present-proof/presentations/{presentationId}', {
      path,
      body: { action: 'presentation-accept' },
    })
    expect(accepted.status).toBe('PresentationAccepted')
  },
)
