/** VDR entries in the memory of this process, which a restart deletes. */

export type MemoryEntry = { walletId: string; content: Uint8Array }

export type EntryMemory = {
  find(id: string): MemoryEntry | undefined
  /** Adds or replaces an entry. False, and no change, if the memory would hold more than its limit. */
  put(id: string, entry: MemoryEntry): boolean
  remove(id: string): void
  /** Removes the entries of a wallet that is deleted. */
  removeAll(walletId: string): void
  /** The number of a wallet's entries. */
  count(walletId: string): number
}

/** The bytes that the entries of all wallets may take. */
const maxBytes = 67_108_864

export function createEntryMemory(limit = maxBytes): EntryMemory {
  const entries = new Map<string, MemoryEntry>()
  const counts = new Map<string, number>()
  let bytes = 0

  const addCount = (walletId: string, change: 1 | -1) => {
    const count = (counts.get(walletId) ?? 0) + change
    if (count === 0) counts.delete(walletId)
    else counts.set(walletId, count)
  }

  const remove = (id: string) => {
    const entry = entries.get(id)
    if (!entry) return
    entries.delete(id)
    bytes -= entry.content.length
    addCount(entry.walletId, -1)
  }

  return {
    find: (id) => entries.get(id),
    put(id, entry) {
      const old = entries.get(id)
      const change = entry.content.length - (old?.content.length ?? 0)
      if (bytes + change > limit) return false
      bytes += change
      entries.set(id, entry)
      if (!old) addCount(entry.walletId, 1)
      return true
    },
    remove,
    removeAll(walletId) {
      for (const [id, entry] of entries) if (entry.walletId === walletId) remove(id)
    },
    count: (walletId) => counts.get(walletId) ?? 0,
  }
}
