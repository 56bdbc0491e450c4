/** The flow of the protocol for tests. */
import * as z from 'zod'
import { randomId } from '../../../src/foundation/id.ts'
import { findByThread } from '../../../src/exchange/engine/find.ts'
import { advance, advanceByReply, begin } from '../../../src/exchange/engine/record.ts'
import type { Protocol, Rec } from '../../../src/exchange/engine/protocol.ts'
import type { Flow } from '../../../src/exchange/engine/composition.ts'
import { Meta, Sides } from '../../../src/exchange/protocols/model.ts'
import { findPeers, findRecordFor, getPeers } from '../../../src/exchange/protocols/peers.ts'
import type { Wallet } from '../../../src/wallet/wallet.ts'
import { toyStates } from './states.ts'

const Data = z.object({ ...Sides, ...Meta })

export const toy = {
  ...toyStates,
  model: Data,
  messages: {
    request: 'https://toy.example/1.0/request',
    answer: 'https://toy.example/1.0/answer',
    'problem-report': 'https://didcomm.org/report-problem/2.0/problem-report',
  },
  toResource: ({ id, thid, role, state }) => ({ toyId: id, thid, role, state }),
  problems: { notFound: 'NotFound', wrongState: 'Conflict' },
} as const satisfies Protocol<typeof toyStates, z.output<typeof Data>>

export async function ask(wallet: Wallet, connectionId: string): Promise<Rec> {
  const { myDid: from, theirDid: to } = await getPeers(wallet.db, connectionId)
  const start = { thid: randomId(), data: Data.parse({ connectionId }) }
  return wallet.transaction((tx) =>
    begin(tx, toy, 'Asker', 'ask', start, { type: 'request', from, to, body: {} }),
  )
}

export async function answer(wallet: Wallet, thid: string, isRefused: boolean): Promise<void> {
  const record = (await findByThread(wallet.db, toy, 'Answerer', thid))!
  const { myDid: from, theirDid: to } = await getPeers(wallet.db, record.connectionId!)
  const report = { type: 'problem-report' as const, from, to, pthid: thid, body: { code: 'e.p.msg.no' } }
  await wallet.transaction((tx) =>
    isRefused
      ? advance(tx, toy, record, 'refuse', {}, report)
      : advance(tx, toy, record, 'answer', {}, { type: 'answer', from, to, body: {} }),
  )
}

export const toyFlow: Flow = {
  protocol: toy,
  handlers: {
    [toy.messages.request]: async (wallet, { from, to, thid }) => {
      const { connectionId } = (await findPeers(wallet.db, from, to))!
      const data = Data.parse({ connectionId })
      return (tx) => begin(tx, toy, 'Answerer', 'received request', { thid, data })
    },
    [toy.messages.answer]: async (wallet, message) => {
      const { id } = (await findRecordFor(wallet.db, toy, 'Asker', message))!
      return (tx) => advanceByReply(tx, toy, id, 'received answer', {})
    },
  },
}
