/** The stock Identus wallet behind this mediator: connection, issuance and proof, by polling and live. */
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import { startAgent, type TestAgent } from '../_agent.ts'
import { newDid, presentationIn } from '../_pair.ts'
import { startMediatedHolder, type Holder } from '../identus/_holder.ts'
import { sdk } from '../identus/_sdk.ts'
import { answerRequest, ask, connect, issue } from '../identus/_steps.ts'
import { forwardOf, newWallet, packFor } from './_mediator.ts'

// Node has one of its own from release 22 on.
vi.stubGlobal('WebSocket', WebSocket)
beforeEach(() => void vi.spyOn(console, 'log').mockImplementation(() => undefined))
afterEach(() => void vi.restoreAllMocks())

const basicMessage = 'https://didcomm.org/basicmessage/2.0/message'

/**
 * A listening wallet never asks for what came before it listened, and does not say when it does: it is
 * written to until it hears.
 */
async function untilItListens(host: TestAgent, { agent, next }: Holder): Promise<void> {
  const own = (await agent.createNewPeerDID([], true)).toString()
  const sender = newWallet('http://127.0.0.1:1/')
  const heard = next(basicMessage)
  for (
    let isHeard = false;
    !isHeard;
    isHeard = await Promise.race([heard.then(() => true), sleep(100, false)])
  ) {
    const body = packFor(
      host.agent.mediator!.did,
      forwardOf(own, sender.pack(own, { type: basicMessage, body: { content: 'hello' } })),
    )
    await fetch(host.didcommUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/didcomm-encrypted+json' },
      body,
    })
  }
}

test.each([
  ['asking for messages', false],
  ['listening for them', true],
])(
  'a stock wallet behind our mediator connects, holds a credential and proves it, by %s',
  { timeout: 60_000 },
  async (_, liveMode) => {
    await using host = await startAgent({ AGENT_MEDIATOR: 'true' })
    const issuer = await host.newTenant('issuer')
    const { did: issuingDID } = await newDid(issuer, 'assertionMethod')
    await using holder = await startMediatedHolder(`${host.url}/dids/`, {
      mediatorDID: host.agent.mediator!.did,
      liveMode,
    })
    await untilItListens(host, holder)

    const { connectionId } = await connect(holder, issuer)
    const schema = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: { name: { type: 'string' } },
    }
    const type = 'https://w3c-ccg.github.io/vc-json-schemas/schema/2.0/schema.json'
    const { guid } = await issuer.call('POST /schema-registry/schemas', {
      body: { name: 'x', version: '1.0.0', type, author: issuingDID, schema },
    })
    const schemaId = `${host.url}/schema-registry/schemas/${guid}`
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
