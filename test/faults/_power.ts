/**
 * Simulates power loss during commits.
 *
 * A commit appends to the write-ahead log and is acknowledged after it is on the disk. After a power loss
 * during commit n + 1, the disk contains the files as of commit n, and any part of the later writes: all,
 * some, reordered blocks, or garbage. Such images are created from the files of a running agent. Each must
 * contain exactly the data of commit n or of commit n + 1.
 */
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSqlite } from '../../src/foundation/storage/sqlite.ts'
import { connect, issue, newDid, startPair } from '../support/tenants.ts'
import { createRandom } from '../support/random.mjs'

/** The sector size. */
const sectorBytes = 512
const pageBytes = 4096
const logHeaderBytes = 32
const frameBytes = 24 + pageBytes

type Image = { db: Buffer; wal: Buffer; shm: Buffer }
type Files = Image & { content: string }

/** Images with the data before and after the commit, images of a checkpoint, and faults. */
export type Losses = { images: number; before: number; after: number; copied: number; torn: string[] }

const place = Symbol.for('identity-agent.probe')

/** Creates and opens at least `images` images while flows run in this process. */
export async function losePower({ images, seed }: { images: number; seed: number }): Promise<Losses> {
  const random = createRandom(seed)
  const folder = mkdtempSync(join(tmpdir(), 'identity-agent-'))
  const losses: Losses = { images: 0, before: 0, after: 0, copied: 0, torn: [] }
  await using pair = await startPair()
  const last = new Map<string, Files>()
  let opened = Promise.resolve()
  const shared = globalThis as { [place]?: (point: string, detail: { walletId: string }) => void }
  shared[place] = (point, { walletId }) => {
    if (point !== 'commit:after' || losses.images >= images) return
    const path = join(pair.agent.dataDir, 'wallets', `${walletId}.db`)
    const [db, wal, shm] = [path, `${path}-wal`, `${path}-shm`].map((file) => readFileSync(file)) as [
      Buffer,
      Buffer,
      Buffer,
    ]
    const now: Files = { db, wal, shm, content: contentOf(path, { readonly: true }) }
    const before = last.get(walletId)
    last.set(walletId, now)
    if (!before || before.content === now.content || random() < 0.5) return
    opened = opened.then(() =>
      open(join(folder, 'image.db'), imageOf(before, now, random), before, now, losses),
    )
  }
  try {
    const issuing = await newDid(pair.issuer, 'assertionMethod')
    const holding = await newDid(pair.holder, 'authentication')
    while (losses.images < images) {
      const { inviterConnectionId } = await connect(pair.issuer, pair.holder)
      await issue(pair.issuer, pair.holder, inviterConnectionId, issuing.did, holding.longFormDid)
    }
  } finally {
    delete shared[place]
    await opened
    rmSync(folder, { recursive: true, force: true })
  }
  return losses
}

/** The possible files after a power loss between two moments. */
function imageOf(before: Files, now: Files, random: () => number): Image {
  const isSameLog = before.wal.subarray(0, logHeaderBytes).equals(now.wal.subarray(0, logHeaderBytes))
  if (!before.db.equals(now.db)) {
    // A checkpoint: the log is complete on the disk, and any pages of the database.
    const db = Buffer.from(now.db)
    for (let at = 0; at < Math.min(before.db.length, db.length); at += pageBytes) {
      if (random() < 0.5) before.db.copy(db, at, at, at + pageBytes)
    }
    // The shared-memory index may be older.
    return { db: isSameLog ? db : now.db, wal: now.wal, shm: random() < 0.5 ? before.shm : now.shm }
  }
  // A restarted log overwrites the old one from the beginning.
  return {
    db: before.db,
    wal: tear(now.wal, isSameLog ? endOf(before.wal) : 0, random),
    shm: random() < 0.5 ? before.shm : Buffer.alloc(0),
  }
}

/** The end of a log. Frames of the previous log follow, with another salt (sqlite.org/fileformat2.html §4.1). */
function endOf(wal: Buffer): number {
  const salt = wal.subarray(16, 24)
  let end = logHeaderBytes
  while (end + frameBytes <= wal.length && wal.subarray(end + 8, end + 16).equals(salt)) end += frameBytes
  return end
}

/** Damages a log after its synced part. */
function tear(wal: Buffer, synced: number, random: () => number): Buffer {
  const torn = Buffer.from(wal)
  const end = endOf(wal)
  const at = synced + Math.floor(random() * (end - synced))
  const ways = [
    () => torn,
    () => torn.subarray(0, at),
    () => torn.fill(0, at, end),
    () => torn.fill(0, synced, at),
    () => torn.fill(Math.floor(random() * 256), at, Math.min(at + sectorBytes, end)),
    () => {
      for (let sector = synced; sector < end; sector += sectorBytes) {
        if (random() < 0.3) torn.fill(0, sector, Math.min(sector + sectorBytes, end))
      }
      return torn
    },
    () => {
      torn[at]! ^= 1 << Math.floor(random() * 8)
      return torn
    },
  ]
  return ways[Math.floor(random() * ways.length)]!()
}

async function open(path: string, image: Image, before: Files, now: Files, losses: Losses): Promise<void> {
  writeFileSync(path, image.db)
  writeFileSync(`${path}-wal`, image.wal)
  writeFileSync(`${path}-shm`, image.shm)
  const n = ++losses.images
  if (!before.db.equals(now.db)) losses.copied++
  try {
    const content = contentOf(path)
    if (content === before.content) losses.before++
    else if (content === now.content) losses.after++
    else
      losses.torn.push(
        `image ${n} holds neither what was there before the commit nor what was there after it`,
      )
  } catch (error) {
    losses.torn.push(`image ${n} could not be read: ${(error as Error).message}`)
  }
}

/** A digest of every row of every table. @throws when SQLite finds the file damaged. */
function contentOf(path: string, options: { readonly?: boolean } = {}): string {
  const database = openSqlite(path, options)
  try {
    const check = database.pragma('integrity_check', { simple: true })
    if (check !== 'ok') throw new Error(String(check))
    const tables = database
      .prepare(`select name from sqlite_schema where type = 'table' order by name`)
      .pluck()
      .all() as string[]
    const digest = createHash('sha256')
    for (const table of tables) {
      digest.update(table)
      const rows = database.prepare(`select * from "${table}"`).raw()
      for (const row of [...rows.iterate()].map((row) => JSON.stringify(row)).toSorted()) digest.update(row)
    }
    return digest.digest('base64url')
  } finally {
    database.close()
  }
}
