/** The stock Identus wallet behind this mediator: enrolment, registration, and pickup by polling and live. */
import { expect, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import { sharedAgent } from '../../support/agent.ts'
import { startMediatedHolder } from '../../identus/_holder.ts'
import { sendUntil } from './_mediator.ts'

// Node 22 and later have their own.
vi.stubGlobal('WebSocket', WebSocket)

test.each([
  ['polling', false],
  ['live delivery', true],
])(
  'a stock wallet receives messages with %s',
  async (_, liveMode) => {
    const host = await sharedAgent({ AGENT_MEDIATOR: 'true' })
    const { did } = host.agent.mediator!
    await using wallet = await startMediatedHolder(`${host.url}/dids/`, { mediatorDID: did, liveMode })
    const own = (await wallet.agent.createNewPeerDID([], true)).toString()
    const arrived = wallet.next('https://didcomm.org/basicmessage/2.0/message')
    await sendUntil(arrived, own, { did, url: host.didcommUrl })
    expect(await arrived).toMatchObject({ body: { content: 'hello' } })
  },
  30_000,
)
