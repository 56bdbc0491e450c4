/** Formats the contents of a wallet. */
import type { Client } from '../../daemon/client/client.ts'
import type { Answer } from '../client/api.ts'

type Stats = Answer<'GET /wallets/{walletId}/stats'>

export function statsFields(stats: Stats): [name: string, value: unknown][] {
  const { bytes, dids, events, jobs, limits } = stats
  return [
    ['wallet', stats.walletId],
    ['connections', records(stats.connections)],
    ['credentials', `${records(stats.credentials)}; ${stats.heldCredentials} held`],
    ['proofs', records(stats.proofs)],
    ['dids', `${dids.total}, of them ${dids.published} published`],
    ['messages', stats.messages],
    ['events', since(events)],
    ['jobs', since(jobs)],
    ['webhooks', stats.webhooks],
    ['file', size(bytes.file)],
    ['registry', bytes.registry === 0 ? undefined : size(bytes.registry)],
    ['record limit', limits.records],
    ['byte limit', limits.bytes === undefined ? undefined : size(limits.bytes)],
  ]
}

/** The contents of a wallet in words, with `with `; nothing if its file is damaged and cannot be read. */
export async function withContent(call: Client, walletId: string): Promise<string> {
  const stats = await call('GET /wallets/{walletId}/stats', { path: { walletId } }).catch(() => undefined)
  return stats ? ` with ${contentOf(stats)}` : ''
}

/** Returns the contents in words, such as `3 connections, 1 credential and 2 DIDs`. */
function contentOf({ connections, credentials, proofs, dids }: Stats): string {
  const parts = [
    count(connections.total, 'connection'),
    count(credentials.total, 'credential record'),
    count(proofs.total, 'proof'),
    count(dids.total, 'DID'),
  ]
  return new Intl.ListFormat('en').format(parts)
}

function records({ total, waiting }: Stats['connections']): string {
  return waiting === 0 ? String(total) : `${total}, of them ${waiting} in progress`
}

function since({ total, oldestAt }: Stats['events']): string {
  return oldestAt === undefined ? String(total) : `${total}, the oldest of ${oldestAt}`
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}

/** Returns a size with two significant digits, such as `1.2 MB`. */
function size(bytes: number): string {
  return new Intl.NumberFormat('en', {
    notation: 'compact',
    style: 'unit',
    unit: 'byte',
    unitDisplay: 'narrow',
    maximumSignificantDigits: 2,
  }).format(bytes)
}
