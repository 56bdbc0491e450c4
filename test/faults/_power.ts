/**
 * Power loss: what a disk holds when the machine goes dark in the middle of a commit.
 *
 * A commit appends to the write-ahead log, and nobody is told of it before that is on the disk. So when the power goes during commit
 * n + 1, the disk has the files as they were at the end of commit n, and of what was written since, anything: all, a part, blocks in
 * another order, nonsense. Such images are made of the files of a real agent at work, and opened: each must hold exactly what was there
 * after commit n, or after commit n + 1.
 */
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSqlite } from '../../src/storage/sqlite.ts'
import { connect, issue, newDid, startPair } from '../_pair.ts'
import { createRandom } from '../_random.mjs'

/** What disks write at once, at least. */
const sectorBytes = 512
const pageBytes = 4096
const logHeaderBytes = 32
const frameBytes = 24 + pageBytes

type Image = { db: Buffer; wal: Buffer; shm: Buffer }
type Files = Image & { content: string }

/** How many images held what was there before the commit and after it, how many were of a log being copied into the database, and what was wrong. */
export type Losses = { images: number; before: number; after: number; copied: number; torn: string[] }

const place = Symbol.for('identity-agent.probe')

/** Makes at least so many images while flows run in this process, and opens them. */
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

/** The files as a disk may have them that went dark between two moments. */
function imageOf(before: Files, now: Files, random: () => number): Image {
  const isSameLog = before.wal.subarray(0, logHeaderBytes).equals(now.wal.subarray(0, logHeaderBytes))
  if (!before.db.equals(now.db)) {
    // The log was being copied into the database: it is on the disk as a whole, of the database any pages are.
    const db = Buffer.from(now.db)
    for (let at = 0; at < Math.min(before.db.length, db.length); at += pageBytes) {
      if (random() < 0.5) before.db.copy(db, at, at, at + pageBytes)
    }
    // The index beside it may be an older one.
    return { db: isSameLog ? db : now.db, wal: now.wal, shm: random() < 0.5 ? before.shm : now.shm }
  }
  // A log that began anew is written over the old one, from the beginning.
  return {
    db: before.db,
    wal: tear(now.wal, isSameLog ? endOf(before.wal) : 0, random),
    shm: random() < 0.5 ? before.shm : Buffer.alloc(0),
  }
}

/** Where a log ends: behind it are the frames of the log that was there before, which carry another salt (sqlite.org/fileformat2.html §4.1). */
function endOf(wal: Buffer): number {
  const salt = wal.subarray(16, 24)
  let end = logHeaderBytes
  while (end + frameBytes <= wal.length && wal.subarray(end + 8, end + 16).equals(salt)) end += frameBytes
  return end
}

/** Damages a log behind the part that is on the disk for certain. */
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
