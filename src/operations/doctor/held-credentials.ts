/**
 * Checks the credentials that wallets hold: the dates of each, and its status, which the issuer may have
 * changed without telling.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { readStanding } from '../../exchange/held-credentials/standing.ts'
import { CredentialFormat } from '../../exchange/protocols/attachments.ts'
import { issuanceFormats } from '../../exchange/issuance/format.ts'
import { CredentialData } from '../../exchange/issuance/model.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import type { Wallets } from '../../wallet/wallets.ts'
import type { Finding } from './check.ts'

/** Why a credential cannot be presented now, the gravest first. */
const faults = ['revoked', 'suspended', 'expired'] as const
type Fault = (typeof faults)[number]

/** `fault` is undefined for a valid credential, `unknown` if its status list could not be read. */
type Held = { walletId: string; recordId: string; fault: Fault | 'unknown' | undefined }

/** Status lists are read for so many credentials at a time. */
const concurrency = 8

type Limits = { maxWallets?: number; maxCredentials?: number; timeMs?: number }

/** Reads the newest credentials of some wallets, for about `timeMs`. */
export async function checkHeldCredentials(
  wallets: Wallets,
  { maxWallets = 20, maxCredentials = 100, timeMs = 3_000 }: Limits = {},
): Promise<Finding> {
  const until = performance.now() + timeMs
  const held: Held[] = []
  for (const walletId of (await wallets.ids()).slice(0, maxWallets)) {
    const left = maxCredentials - held.length
    if (left === 0 || performance.now() > until) break
    // Another check reports unreadable wallets.
    const found = await wallets.use(walletId, (wallet) => readHeld(wallet, left, until)).catch(() => [])
    held.push(...found)
  }
  return toFinding(held)
}

function toFinding(held: readonly Held[]): Finding {
  if (held.length === 0) return { status: 'ok', detail: 'No wallet holds credentials.' }
  const groups = faults.map((fault) => ({ fault, of: held.filter((each) => each.fault === fault) }))
  const [first] = groups.flatMap(({ of }) => of)
  const unknown = held.filter(({ fault }) => fault === 'unknown').length
  const unread = unknown === 0 ? '' : ` The status of ${unknown} could not be read.`
  if (!first) {
    const detail = `Of ${held.length} held credentials that were checked, none is revoked, suspended or expired.${unread}`
    return { status: 'ok', detail }
  }
  const counts = groups
    .flatMap(({ fault, of }) => (of.length > 0 ? [`${of.length} ${fault}`] : []))
    .join(', ')
  return {
    status: 'warning',
    detail: `Held credentials that verifiers refuse: ${counts}, such as ${first.recordId} (${first.fault}) of the wallet ${first.walletId}.${unread}`,
    hint: `agent credential show ${first.recordId}   # as the wallet’s tenant: ask its issuer for another one, then: agent credential remove ${first.recordId}`,
  }
}

async function readHeld(wallet: Wallet, limit: number, until: number): Promise<Held[]> {
  const rows = await wallet.db
    .selectFrom('credential')
    .innerJoin('record', 'record.id', 'credential.id')
    .select([
      'credential.id',
      'credential.format',
      'credential.credential',
      'credential.issuer',
      'record.data',
    ])
    .orderBy('credential.created_at', 'desc')
    .limit(limit)
    .execute()
  const held: Held[] = []
  for (let start = 0; start < rows.length; start += concurrency)
    held.push(
      ...(await Promise.all(
        rows.slice(start, start + concurrency).map(async (row) => ({
          walletId: wallet.id,
          recordId: row.id,
          fault: await findFault(wallet, row, until),
        })),
      )),
    )
  return held
}

type Row = { id: string; format: string; credential: string; issuer: string; data: string }

const Known = CredentialData.pick({ revocation: true, standing: true })

async function findFault(wallet: Wallet, row: Row, until: number): Promise<Held['fault']> {
  const { revocation, standing } = Known.parse(JSON.parse(row.data))
  // The issuer's notice, which is for good.
  if (revocation) return 'revoked'
  try {
    const decoded = issuanceFormats[CredentialFormat.parse(row.format)].read(row.credential)
    const { statuses, issuerDid = row.issuer, validUntil = Infinity } = decoded
    const read = readStanding(wallet, row.id, { ...decoded, statuses, issuerDid })
    const patience = delay(Math.max(0, until - performance.now()), undefined, { ref: false })
    const { status } = (await Promise.race([read, patience])) ?? { status: 'unknown' }
    const last = status === 'unknown' ? standing?.status : status
    if (last === 'revoked' || last === 'suspended') return last
    if (validUntil * 1_000 < Date.now()) return 'expired'
    return status === 'unknown' ? status : undefined
  } catch {
    return 'unknown'
  }
}
