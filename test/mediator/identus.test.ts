/** The stock Identus wallet behind this mediator: enrolment, registration, and pickup by polling and live. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Agent, Domain } from '@hyperledger/identus-sdk'
import { expect, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import { startAgent } from '../_agent.ts'
import { sdk } from '../identus/_sdk.ts'
import { memoryStore } from '../identus/_store.ts'
import { forwardOf, newWallet, packFor } from './_mediator.ts'

const basicMessage = 'https://didcomm.org/basicmessage/2.0/message'

// Node has one of its own from release 22 on.
vi.stubGlobal('WebSocket', WebSocket)

async function startWallet(mediatorDID: string, liveMode: boolean): Promise<Agent> {
  const apollo = new sdk.Apollo()
  const castor = new sdk.Castor(apollo)
  const pluto = new sdk.Pluto(memoryStore(), apollo) as unknown as Domain.Pluto
  const agent = sdk.Agent.initialize({
    apollo,
    castor,
    pluto,
    mediatorDID,
    options: { experiments: { liveMode } },
  })
  await agent.start()
  return agent
}

test.each([
  ['asking for messages', false],
  ['listening for them', true],
])(
  'a stock wallet gets what is sent to it, by %s',
  async (_, liveMode) => {
    await using host = await startAgent({ AGENT_MEDIATOR: 'true' })
    const { did } = host.agent.mediator!
    const wallet = await startWallet(did, liveMode)
    try {
      if (!liveMode) {
        // Every five seconds is the default.
        wallet.stopFetchingMessages()
        await wallet.startFetchingMessages(200)
      }
      const own = (await wallet.createNewPeerDID([], true)).toString()
      const arrived = new Promise<Domain.Message[]>((resolve) =>
        wallet.addListener(sdk.ListenerKey.MESSAGE, resolve),
      )
      const sender = newWallet('http://127.0.0.1:1/')
      // A listening wallet never asks for what came before it listened, and does not say when it does: it is
      // written to until it hears.
      for (
        let messages: Domain.Message[] | undefined;
        !messages;
        messages = await Promise.race([arrived, sleep(250, undefined)])
      ) {
        const packed = sender.pack(own, { type: basicMessage, body: { content: 'hello' } })
        const { status } = await fetch(host.didcommUrl, {
          method: 'POST',
          headers: { 'content-type': 'application/didcomm-encrypted+json' },
          body: packFor(did, forwardOf(own, packed)),
        })
        expect(status).toBe(202)
      }
      const [message] = await arrived
      expect(message).toMatchObject({ piuri: basicMessage, body: { content: 'hello' } })
    } finally {
      await wallet.connections.mediator?.close()
      await wallet.stop()
    }
  },
  30_000,
)
