/** Messages are applied once, also when repetitions arrive concurrently. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { Problem } from '../../../src/foundation/problem.ts'
import { jsonAttachment } from '../../../src/exchange/didcomm/message.ts'
import { composition, handlers } from '../../../src/exchange/all-protocols.ts'
import { receive, type Handler } from '../../../src/exchange/engine/receive.ts'
import type { Wallet } from '../../../src/wallet/wallet.ts'
import { startPair } from '../../support/agent-from-sources.ts'
import { openParty, typesOf } from '../../support/party.ts'

const kinds = [
  ['an offer', typesOf.offer, { credential_preview: { body: { attributes: [] } } }],
  ['a presentation request', typesOf.presentationRequest, {}],
] as const

/** A wallet with a connection, and a decrypted message over it. */
async function start(type: string, body: object) {
  const pair = await startPair()
  const party = await openParty()
  const { connectionId } = await party.connect(pair.holder)
  const { myDid, theirDid } = await pair.holder.call('GET /connections/{connectionId}', {
    path: { connectionId },
  })
  const attachments = [jsonAttachment('1', { options: { challenge: 'c', domain: 'd' } }, 'prism/jwt')]
  return {
    use: <T>(work: (wallet: Wallet) => Promise<T>) =>
      pair.agent.agent.wallets.use(pair.holder.walletId, work),
    unpacked: (thid: string) => ({
      message: {
        id: randomUUID(),
        type,
        from: theirDid!,
        to: [myDid!],
        thid,
        body: { ...body },
        attachments,
      },
      senderKid: `${theirDid!}#key`,
      recipientKid: `${myDid!}#key`,
      layers: [],
      authenticated: true,
      anonymous: false,
    }),
    async [Symbol.asyncDispose]() {
      await party[Symbol.asyncDispose]()
      await pair[Symbol.asyncDispose]()
    },
  }
}

/** The protocols with other handlers. */
const by = (others: Readonly<Record<string, Handler>>) => ({ ...composition, handlers: others })

/** Handlers that wait for `may` before they run. */
function patient(
  may: Promise<unknown>,
  all: Readonly<Record<string, Handler>> = handlers,
): Record<string, Handler> {
  const wait =
    (handler: Handler): Handler =>
    async (wallet, message) => {
      await may
      return handler(wallet, message)
    }
  return Object.fromEntries(Object.entries(all).map(([type, handler]) => [type, wait(handler)]))
}

test.each(kinds)(
  '%s that is repeated while it is being handled is dropped, not refused',
  async (_name, type, body) => {
    await using scene = await start(type, body)
    await scene.use(async (wallet) => {
      const message = scene.unpacked(randomUUID())
      const first = receive(wallet, composition, message)
      await Promise.all([first, receive(wallet, by(patient(first)), message)])
      const records = await wallet.db
        .selectFrom('record')
        .select('id')
        .where('protocol', '!=', 'connection')
        .execute()
      expect(records).toHaveLength(1)
    })
  },
)

test('a repeated message is dropped, even if its record has moved on', async () => {
  await using scene = await start(typesOf.offer, {})
  await scene.use(async (wallet) => {
    const message = scene.unpacked(randomUUID())
    const take: Handler = () => Promise.resolve(() => Promise.resolve())
    const refuse: Handler = () =>
      Promise.reject(
        new Problem('error:CredentialServiceError:InvalidStateForOperation', 'The record has moved on.'),
      )
    const first = receive(wallet, by({ [typesOf.offer]: take }), message)
    await Promise.all([first, receive(wallet, by(patient(first, { [typesOf.offer]: refuse })), message)])
    await expect(
      receive(wallet, by({ [typesOf.offer]: refuse }), scene.unpacked(randomUUID())),
    ).rejects.toMatchObject({ status: 400 })
    const log = await wallet.db
      .selectFrom('message_log')
      .select('outcome')
      .where('type', '=', typesOf.offer)
      .orderBy('sequence')
      .execute()
    expect(log.map(({ outcome }) => outcome)).toEqual(['taken', 'refused'])
  })
})

test.each(kinds)(
  'of two messages that are %s for one thread, the second is refused, in any order of handling',
  async (_name, type, body) => {
    await using scene = await start(type, body)
    await scene.use(async (wallet) => {
      const thid = randomUUID()
      const thinking = [scene.unpacked(thid), scene.unpacked(thid)].map(({ message }) =>
        handlers[type]!(wallet, {
          ...message,
          from: message.from,
          to: message.to[0]!,
          attachments: message.attachments,
        }),
      )
      const [first, second] = await Promise.all(thinking)
      await wallet.transaction(first!)
      await expect(wallet.transaction(second!)).rejects.toMatchObject({ status: 400 })
    })
  },
)

test('message ids are deleted after thirty days, when new messages arrive', async () => {
  await using scene = await start(typesOf.presentationRequest, {})
  await scene.use(async (wallet) => {
    const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString()
    await wallet.transaction((tx) =>
      tx
        .insertInto('inbox')
        .values([
          { rowid: -1, id: 'older', received_at: daysAgo(31) },
          { rowid: 0, id: 'younger', received_at: daysAgo(29) },
        ])
        .execute(),
    )
    for (let n = 0; n < 10; n++)
      await receive(wallet, composition, scene.unpacked(randomUUID())).catch(() => undefined)
    const ids = (await wallet.db.selectFrom('inbox').select('id').execute()).map(({ id }) => id)
    expect(ids).toContain('younger')
    expect(ids).not.toContain('older')
  })
})
