/** A process that has lost a wallet does not answer from what it remembers of it. */
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createAgent } from '../../src/agent/agent.ts'
import { createFileStore } from '../../src/agent/store.ts'
import { soleOwnership, type Ownership } from '../../src/cluster/ownership.ts'
import { getRecord } from '../../src/exchange/engine/find.ts'
import { begin } from '../../src/exchange/engine/record.ts'
import { connection } from '../../src/exchange/protocols/connection/model.ts'
import { readConfig } from '../../src/foundation/config/config.ts'
import { openLog } from '../../src/foundation/log.ts'
import { openWalletDb } from '../../src/foundation/storage/database.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const invitation = { id: 'i', type: 't', from: 'did:peer:2.x', invitationUrl: 'u' }
const urls = { rest: 'http://127.0.0.1:1', didcomm: 'http://127.0.0.1:2' }

test('what another process has written meanwhile is read, by work that began before the loss too', async () => {
  await using folder = await temporaryFolder()
  const config = readConfig({
    AGENT_DATA_DIR: folder.path,
    AGENT_CONFIG_DIR: folder.path,
    ADMIN_TOKEN: 'x'.repeat(32),
  })
  const losses: Parameters<Ownership['onLoss']>[0][] = []
  let isOwner = true
  const ownership = {
    ...soleOwnership,
    owns: () => isOwner,
    onLoss: (each: (typeof losses)[0]) => void losses.push(each),
  }
  const store = { ...createFileStore(config), ownership }
  await using agent = await createAgent(config, openLog('silent'), urls, {}, store)
  const { id: walletId } = await agent.wallets.create({ name: 'alice' })
  const id = randomUUID()
  let lost: Promise<unknown> | undefined
  await agent.wallets.use(walletId, async (wallet) => {
    await wallet.transaction((tx) =>
      begin(tx, connection, 'Inviter', 'POST /connections', {
        id,
        thid: id,
        data: { invitation, metaRetries: 5 },
      }),
    )
    const state = async () => (await getRecord(wallet.db, connection, id)).state
    expect(await state()).toBe('InvitationGenerated')

    isOwner = false
    lost = Promise.all(losses.map((listener) => listener(() => isOwner)))
    const other = await openWalletDb(join(folder.path, 'wallets', `${walletId}.db`))
    await other
      .updateTable('record')
      .set({ state: 'ConnectionRequestReceived' })
      .where('id', '=', id)
      .execute()
    await other.destroy()
    isOwner = true
    expect(await state()).toBe('ConnectionRequestReceived')
  })
  await lost
})
