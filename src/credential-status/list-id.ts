/**
 * Ids of status lists: the wallet's id, sealed, so that the public endpoint finds the list without a table, a forged one finds nothing, and two
 * lists of one wallet do not look alike.
 */
import { fromHex, toHex } from '../base/bytes.ts'
import { sealToken, unsealToken } from '../base/seal.ts'

/** Makes an id for a list of a wallet, never the same twice; 55 characters of base58. */
export function newListId(key: Uint8Array, walletId: string): string {
  return sealToken(key, 'status-list', fromHex(walletId.replaceAll('-', '')))
}

/** The wallet that an id was made for; nothing for one that is not ours. */
export function openListId(key: Uint8Array, id: string): string | undefined {
  const bytes = unsealToken(key, 'status-list', id)
  return bytes?.length === 16
    ? toHex(bytes).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
    : undefined
}
