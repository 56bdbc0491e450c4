/** Empty 1.0 (wire.md 7): a message that says nothing, but for the headers that it carries. */
import { mustKnow } from '../notice.ts'
import type { Handler } from '../engine/receive.ts'

export const empty = { name: 'empty', messages: { empty: 'https://didcomm.org/empty/1.0/empty' } } as const

/** Takes it, and does nothing. */
export const onEmpty: Handler = async (wallet, message) => {
  await mustKnow(wallet.db, message)
  return () => Promise.resolve()
}
