/**
 * The log file of a daemon in the background: `daemon.log`, and older parts of it.
 *
 * The file is also the daemon's standard error, so that it contains what Node.js prints when it crashes.
 * Node.js cannot give a descriptor another file, so a rotation copies the file and then empties it. The copy
 * is complete and on the disk before the file is emptied.
 */
import { constants, closeSync, fstatSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs'
import { existsSync, readdirSync, renameSync, rmSync, statSync, type Stats } from 'node:fs'
import { copyFile, open } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

/** The log file of the daemon that serves a data folder. */
export function logPath(dataDir: string): string {
  return join(dataDir, 'daemon.log')
}

/** The copy that a rotation has not completed. */
export function unfinishedPart(path: string): string {
  return `${path}.rotating`
}

/** An older part of a log. Higher numbers are newer. */
export type LogPart = { path: string; number: number }

/** The older parts of a log, the oldest first. @throws as `node:fs` does */
export function logParts(path: string): LogPart[] {
  const prefix = `${basename(path)}.`
  return readdirSync(dirname(path))
    .filter((name) => name.startsWith(prefix) && /^\d+$/.test(name.slice(prefix.length)))
    .map((name) => ({ path: join(dirname(path), name), number: Number(name.slice(prefix.length)) }))
    .toSorted((a, b) => a.number - b.number)
}

export type LogLimits = {
  /** The bytes from which the file is rotated. */
  maxBytes: number
  /** The number of older parts that are kept, at least 1. */
  files: number
  /** Reports lines that could not be written, once there is room again. */
  onMissing: (count: number) => void
  /** Reports that a rotation failed. The file keeps its lines, and the rotation is repeated later. */
  onFault: (error: unknown) => void
}

/** A destination of pino, whose `write` takes one line with its line feed. */
export type LogFile = {
  write: (line: string) => void
  /** Rotates the file from now on. Only the daemon that has locked the data folder may do this. */
  rotate: (limits: LogLimits) => void
  /** Resolves when no rotation is in progress. */
  idle: () => Promise<void>
}

/** The log file of a data folder, if it is the standard error of this process; otherwise undefined. */
export function ownLogFile(dataDir: string): LogFile | undefined {
  const path = logPath(dataDir)
  const there = findFile(path)
  if (!there?.isFile()) return undefined
  const own = fstatSync(2)
  return own.ino === there.ino && own.dev === there.dev ? openLogFile(path) : undefined
}

/** Undefined also for a path that cannot exist, which the lock of the data folder reports. */
function findFile(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

/** Opens a log file for appending. Lines are written before `write` returns, and never in part. */
export function openLogFile(path: string): LogFile {
  const file = openSync(path, 'a', 0o600)
  let size = fstatSync(file).size
  let limits: LogLimits | undefined
  let threshold = Infinity
  let rotation: Promise<void> | undefined
  let missing = 0

  const write = (line: string) => {
    if (!append(file, line)) return void missing++
    size += Buffer.byteLength(line)
    if (missing > 0) reportMissing()
    if (size >= threshold) rotation ??= rotateOnce(limits!).finally(() => (rotation = undefined))
  }
  const reportMissing = () => {
    const count = missing
    missing = 0
    limits?.onMissing(count)
  }
  const rotateOnce = async ({ maxBytes, files, onFault }: LogLimits) => {
    threshold = Infinity
    try {
      prune(path, files - 1)
      await moveToPart(path, file)
      size = fstatSync(file).size
      threshold = maxBytes
    } catch (error) {
      // On a full disk, the next attempt has the room of one more part.
      prune(path, Math.max(logParts(path).length - 1, 0))
      threshold = size + maxBytes / 10
      onFault(error)
    }
  }
  return {
    write,
    rotate(given) {
      finishRotation(path)
      limits = given
      threshold = given.maxBytes
    },
    idle: async () => rotation,
  }
}

/** Appends a line. Returns false, with nothing written, if there is no room for it. */
function append(file: number, line: string): boolean {
  const bytes = Buffer.from(line)
  let done = 0
  try {
    while (done < bytes.length) done += writeSync(file, bytes, done)
    return true
  } catch {
    if (done > 0) ftruncateSync(file, fstatSync(file).size - done)
    return false
  }
}

/** Copies the file in a thread while lines are added to it, then adds these lines, and empties the file. */
async function moveToPart(path: string, file: number): Promise<void> {
  const unfinished = unfinishedPart(path)
  await copyFile(path, unfinished, constants.COPYFILE_FICLONE)
  const copy = await open(unfinished, 'a')
  try {
    await copy.sync()
    const { size: copied } = await copy.stat()
    // From here on nothing waits, so no line is added in between.
    appendRest(path, copied, copy.fd)
    ftruncateSync(file, 0)
    renameSync(unfinished, nextPart(path))
  } catch (error) {
    if (fstatSync(file).size > 0) rmSync(unfinished, { force: true })
    throw error
  } finally {
    await copy.close()
  }
}

function appendRest(path: string, from: number, copy: number): void {
  const source = openSync(path, 'r')
  try {
    const rest = Buffer.alloc(fstatSync(source).size - from)
    const length = readSync(source, rest, 0, rest.length, from)
    for (let done = 0; done < length;) done += writeSync(copy, rest, done, length - done)
  } finally {
    closeSync(source)
  }
}

/** After a crash: an unfinished copy holds lines that the file does not have only if the file was emptied. */
function finishRotation(path: string): void {
  const unfinished = unfinishedPart(path)
  if (!existsSync(unfinished)) return
  if (statSync(path).size < statSync(unfinished).size) renameSync(unfinished, nextPart(path))
  else rmSync(unfinished)
}

function nextPart(path: string): string {
  return `${path}.${(logParts(path).at(-1)?.number ?? 0) + 1}`
}

function prune(path: string, keep: number): void {
  for (const part of logParts(path).toReversed().slice(keep)) rmSync(part.path, { force: true })
}
