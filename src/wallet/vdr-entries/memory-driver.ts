/** The driver `memory`: entries are in the memory of the process, so that the agent has only one. */
import { randomId } from '../../foundation/id.ts'
import { Problem } from '../../foundation/problem.ts'
import type { EntryMemory, MemoryEntry } from '../../did/ledger/entry-memory.ts'
import { type Driver, tooManyEntries } from './driver.ts'

export function createMemoryDriver(memory: EntryMemory, maxEntries: number): Driver {
  const put = (id: string, entry: MemoryEntry) => {
    if (!memory.put(id, entry))
      throw new Problem(
        'error:InsufficientStorage',
        'The VDR entries of all wallets take the memory that they may take. Use the driver database, or delete some first.',
      )
  }

  return {
    name: { family: 'memory', id: 'memory', version: '0.1.0' },

    async create({ id: walletId }, content) {
      if (memory.count(walletId) >= maxEntries) throw tooManyEntries(maxEntries)
      const entryId = randomId()
      put(entryId, { walletId, content })
      return { entryId }
    },

    find: async (entryId) => memory.find(entryId)?.content,

    async update({ id: walletId }, entryId, content) {
      if (memory.find(entryId)?.walletId !== walletId) return undefined
      put(entryId, { walletId, content })
      return {}
    },

    async remove({ id: walletId }, entryId) {
      if (memory.find(entryId)?.walletId !== walletId) return undefined
      memory.remove(entryId)
      return {}
    },
  }
}
