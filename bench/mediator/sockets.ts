/** The memory of a mediator with many WebSockets, each of an enrolled wallet with live delivery. */
import PQueue from 'p-queue'
import { WebSocket } from 'ws'
import { mediateRequest, newWallet, pickup } from '../../test/exchange/mediator/_mediator.ts'
import type { Row } from '../_results.ts'
import type { Outcome, Scale } from '../_scenarios.ts'
import { openMediator, programs, type Mediator } from './_setup.ts'

const openedAtOnce = 32

/** The number that an earlier build accepts without a setting. */
const countBefore = 900

export async function measureSockets({ quick }: Scale): Promise<Outcome> {
  const rows: Row[] = []
  const failures: string[] = []
  for (const [name, program] of Object.entries(programs())) {
    const count = quick || name === 'before' ? countBefore : 10_000
    await using mediator = await openMediator(program, {
      MEDIATOR_SOCKETS: '12000',
      AGENT_CONNECTIONS: '2000',
    })
    const idle = await mediator.used(true)
    const from = performance.now()
    const sockets = await openSockets(mediator, count)
    const seconds = (performance.now() - from) / 1_000
    const opened = await mediator.used()
    const after = await mediator.used(true)
    const left = sockets.filter(({ readyState }) => readyState === WebSocket.OPEN).length
    if (left < count) failures.push(`${count - left} of ${count} WebSockets were closed`)
    rows.push(
      { name: `${name}, idle`, figures: { megabytes: idle.residentMb } },
      {
        name: `${name}, ${count} sockets`,
        figures: {
          megabytes: after.residentMb,
          seconds,
          cpuMs: opened.cpuMs / count,
          loopMax: opened.longestMs,
        },
      },
    )
    for (const socket of sockets) socket.terminate()
  }
  return { tables: [{ title: 'Mediator: WebSockets with live delivery', rows }], failures }
}

async function openSockets(mediator: Mediator, count: number): Promise<WebSocket[]> {
  const sockets: WebSocket[] = []
  const queue = new PQueue({ concurrency: openedAtOnce })
  await queue.addAll(
    Array.from({ length: count }, () => async () => {
      sockets.push(await openSocket(mediator))
    }),
  )
  return sockets
}

function openSocket({ daemon, did }: Mediator): Promise<WebSocket> {
  const wallet = newWallet()
  const socket = new WebSocket(`${daemon.didcommUrl.replace(/^http/, 'ws')}/ws`, { perMessageDeflate: false })
  const messages = [
    { type: mediateRequest },
    { type: `${pickup}/live-delivery-change`, body: { live_delivery: true } },
  ]
  return new Promise((resolve, reject) => {
    const next = () => {
      const message = messages.shift()
      if (message) socket.send(wallet.pack(did, message))
      else resolve(socket)
    }
    socket.on('open', next)
    socket.on('message', next)
    socket.on('error', reject)
    socket.on('close', (code) => reject(new Error(`closed with ${code}`)))
  })
}
