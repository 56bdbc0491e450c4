/**
 * The URLs of VDR entries (Hyperledger Identus VDR):
 * `vdr://?drf=<family>&drid=<driver>&drv=<version>&m=<0|1>#<id>`.
 *
 * `m` says whether the entry is mutable. Every entry of this agent is. Some releases of the Cloud Agent write
 * `http://<host>/?…` instead of `vdr://?…`.
 */
import { Problem } from '../../foundation/problem.ts'

/** A driver by its family, id and version. Absent parts match any. */
export type DriverName = { family?: string; id?: string; version?: string }

/** The longest URL that is read. */
const maxLength = 1_000

/** The parts of the URL of an entry. @throws {Problem} 400 for a malformed URL, or one of another agent */
export function parseEntryUrl(url: string, ownUrl: string): { driver: DriverName; entryId: string } {
  const entry = URL.parse(url)
  const isHttp = entry?.protocol === 'http:' || entry?.protocol === 'https:'
  if (url.length > maxLength || !entry || (entry.protocol !== 'vdr:' && !isHttp))
    throw new Problem('BadRequest', `url: is not the URL of a VDR entry, ${form}.`)
  const { searchParams: query, host, hash } = entry
  if (isHttp && host !== new URL(ownUrl).host)
    throw new Problem('BadRequest', `url: the VDR entry is at ${host}, another agent. Ask it there.`)
  const entryId = hash.slice(1)
  const [family, id, version] = ['drf', 'drid', 'drv'].map((name) => query.get(name) ?? undefined)
  if (entryId === '' || (family === undefined && id === undefined))
    throw new Problem('BadRequest', `url: names no driver, or no entry. It has the form ${form}.`)
  return { driver: toDriverName(family, id, version), entryId }
}

const form = 'vdr://?drf=<family>&drid=<driver>&drv=<version>&m=<0|1>#<id>'

export function toEntryUrl({ family, id, version }: Required<DriverName>, entryId: string): string {
  return `vdr://?drf=${family}&drid=${id}&drv=${version}&m=1#${entryId}`
}

/** A name without its absent and empty parts. */
export function toDriverName(family?: string, id?: string, version?: string): DriverName {
  return { ...(family && { family }), ...(id && { id }), ...(version && { version }) }
}
