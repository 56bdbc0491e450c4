/** A mediator that is killed: every forward that it has accepted is delivered after its restart. */
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import {
  deliveredIn,
  forwardOf,
  mediateRequest,
  newWallet,
  packFor,
  pickup,
} from '../exchange/mediator/_mediator.ts'
import { createRandom } from '../support/random.mjs'
import { Daemon } from '../support/daemon.ts'

const post = (url: string, body: string) =>
  fetch(url, { method: 'POST', headers: { 'content-type': 'application/didcomm-encrypted+json' }, body })

test('no accepted forward is lost when the mediator is killed', async () => {
  await using daemon = await Daemon.start({ AGENT_MEDIATOR: 'true' })
  const did = await (await fetch(`${daemon.didcommUrl}/did`)).text()
  const wallet = newWallet()
  const ask = async (type: string, body: object = {}) =>
    (
      await wallet.open(
        await (await post(daemon.didcommUrl, wallet.pack(did, { type, body: { ...body } }))).text(),
      )
    ).message
  await ask(mediateRequest)
  const random = createRandom(46)
  const accepted = new Set<string>()
  for (let round = 0; round < 4; round++) {
    const killed = new AbortController()
    const send = async () => {
      while (!killed.signal.aborted) {
        const message = packFor(wallet.did, { type: 'x:y' })
        const answer = await post(daemon.didcommUrl, packFor(did, forwardOf(wallet.did, message))).catch(
          () => undefined,
        )
        if (answer?.status === 202) accepted.add((JSON.parse(message) as { ciphertext: string }).ciphertext)
      }
    }
    const senders = Array.from({ length: 16 }, send)
    const before = accepted.size
    while (accepted.size < before + 40) await sleep(5)
    await sleep(random() * 20)
    await daemon.stop('SIGKILL')
    killed.abort()
    await Promise.all(senders)
    await daemon.start()
    const waiting = new Set<string>()
    for (let last = -1; last !== waiting.size;) {
      last = waiting.size
      const delivered = deliveredIn(await ask(`${pickup}/delivery-request`, { limit: 100 }))
      for (const { packed } of delivered)
        waiting.add((JSON.parse(packed) as { ciphertext: string }).ciphertext)
      await ask(`${pickup}/messages-received`, { message_id_list: delivered.map(({ id }) => id) })
    }
    expect([...accepted].filter((each) => !waiting.has(each))).toEqual([])
    accepted.clear()
  }
})
