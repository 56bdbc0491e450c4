/**
 * Loaded into a process with `node --import`: counts its work between its parent's messages `begin` and
 * `end`, and answers `end` with the counts (`_counts.ts` has their shape). Only the main thread is counted.
 *
 * From the first `begin`, functions are not optimized, so that each call is counted and allocations do not
 * depend on the moment when V8 compiles a function. With `collect`, it collects garbage first, and counts
 * only the bytes allocated on the heap and the turns of the event loop: counting the rest allocates and reads
 * by itself.
 */
import fs from 'node:fs'
import { Session } from 'node:inspector'
import { createRequire } from 'node:module'
import { performance } from 'node:perf_hooks'
import { GCProfiler, getHeapStatistics, promiseHooks, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { isMainThread } from 'node:worker_threads'

/** Frames of the stack that name the place of a call: those of packages precede those of the project. */
const framesKept = 12

let isDetailed = false
let counts = noCounts()

function noCounts() {
  const [statements, promises, parsed, produced] = Array.from({ length: 4 }, () => new Map())
  return { commits: 0, frames: 0, flushes: 0, statements, promises, parsed, produced }
}

function add(map, key, bytes = 0) {
  const known = map.get(key)
  if (known) {
    known.count++
    known.bytes += bytes
  } else map.set(key, { count: 1, bytes })
}

/** The stack above a function, as `file:line:column` of each frame. */
function stackAbove(callee) {
  // oxlint-disable-next-line typescript/unbound-method -- it is put back below
  const { stackTraceLimit, prepareStackTrace } = Error
  Error.stackTraceLimit = framesKept
  Error.prepareStackTrace = (_error, sites) =>
    sites
      .map((site) => `${site.getFileName()}:${site.getLineNumber()}:${site.getColumnNumber()}`)
      .filter((place) => /^(file:|\/)/.test(place))
      .join(' ')
  const holder = {}
  Error.captureStackTrace(holder, callee)
  const { stack } = holder
  Object.assign(Error, { stackTraceLimit, prepareStackTrace })
  return stack
}

/** The bytes of a text; anything else has none. */
function sizeOf(text) {
  return typeof text === 'string' ? Buffer.byteLength(text) : 0
}

function countJson() {
  const { parse, stringify } = JSON
  JSON.parse = function parseCounted(text, reviver) {
    if (isDetailed) add(counts.parsed, stackAbove(parseCounted), sizeOf(text))
    return parse(text, reviver)
  }
  JSON.stringify = function stringifyCounted(value, replacer, space) {
    const text = stringify(value, replacer, space)
    if (isDetailed) add(counts.produced, stackAbove(stringifyCounted), sizeOf(text))
    return text
  }
}

function countPromises() {
  promiseHooks.onInit(function created() {
    if (isDetailed) add(counts.promises, stackAbove(created))
  })
}

/** The log of each database when it was last looked at; see `framesSince`. */
const logs = new WeakMap()

/**
 * The pages that the last commit wrote to the log: the header of its index
 * (https://www.sqlite.org/walformat.html#the_wal_index_header) has the number of frames, and a salt that
 * changes when the log begins anew.
 */
function framesSince(database) {
  const log = logs.get(database) ?? { file: fs.openSync(`${database.name}-shm`, 'r'), salt: 0n, frames: 0 }
  const header = Buffer.alloc(48)
  fs.readSync(log.file, header, 0, header.length, 0)
  const [frames, salt] = [header.readUInt32LE(16), header.readBigUInt64LE(32)]
  const written = logs.has(database) ? frames - (salt === log.salt ? log.frames : 0) : 0
  logs.set(database, Object.assign(log, { frames, salt }))
  return written
}

const isFull = new WeakMap()

/** `FULL`: SQLite flushes the log in each commit. */
function flushesItself(database) {
  if (!isFull.has(database)) isFull.set(database, database.pragma('synchronous', { simple: true }) === 2)
  return isFull.get(database)
}

function countStatements(Database) {
  const database = new Database(':memory:')
  const Statement = Object.getPrototypeOf(database.prepare('select 1'))
  // The getters of the package would count as calls of it.
  const [native] = Object.getOwnPropertySymbols(database)
  const isOpen = (statement) => statement.database[native].inTransaction
  database.close()
  for (const method of ['run', 'get', 'all', 'iterate']) {
    const call = Statement[method]
    Statement[method] = function (...values) {
      const before = isOpen(this)
      const result = call.apply(this, values)
      if (isDetailed) add(counts.statements, this.source)
      const isCommit = !isOpen(this) && (before || (method === 'run' && !this.readonly))
      if (isCommit && !/^rollback/i.test(this.source) && !this.database.memory) commit(this.database)
      return result
    }
  }
}

function commit(database) {
  if (isDetailed) {
    counts.commits++
    counts.frames += framesSince(database)
  }
  if (flushesItself(database)) counts.flushes++
}

function countFlushes() {
  for (const name of ['fsync', 'fdatasync', 'fsyncSync', 'fdatasyncSync']) {
    const native = fs[name]
    fs[name] = (...values) => {
      counts.flushes++
      return native(...values)
    }
  }
}

const session = new Session()

/** The functions called since the last call, as `[file, offset, name, count]`. Answers synchronously. */
function takeFunctions() {
  let functions
  session.post('Profiler.takePreciseCoverage', (_error, { result }) => {
    functions = result
      .filter(({ url }) => /^(file:|\/)/.test(url))
      .flatMap(({ url, functions: all }) =>
        all.map(({ functionName, ranges: [{ startOffset, count }] }) => [
          url,
          startOffset,
          functionName,
          count,
        ]),
      )
      .filter(([, , , count]) => count > 0)
  })
  return functions
}

function countAll() {
  countJson()
  countFlushes()
  // The choice of `src/foundation/storage/sqlite.ts`.
  const folder = Number(process.versions.napi) >= 10 ? '' : '../../node_modules/.sqlite-node20/node_modules/'
  countStatements(createRequire(import.meta.url)(`${folder}better-sqlite3`))
}

let isPrepared = false

function prepare() {
  if (isPrepared) return
  isPrepared = true
  for (const flag of ['--no-opt', '--no-maglev', '--expose-gc']) setFlagsFromString(flag)
  session.connect()
  session.post('Profiler.enable')
  session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  countPromises()
}

const turns = () => performance.nodeTiming.uvMetricsInfo?.loopCount ?? 0
const heapBytes = () => getHeapStatistics().used_heap_size
let collected
let before

function begin({ collect = false }) {
  prepare()
  counts = noCounts()
  if (collect) {
    runInNewContext('gc')()
    collected = new GCProfiler()
    collected.start()
  } else takeFunctions()
  isDetailed = !collect
  before = { turns: turns(), heapBytes: heapBytes() }
}

/** Bytes that are in use now, and those that collections have freed meanwhile. */
function allocated() {
  const inUse = heapBytes()
  const freed = collected
    .stop()
    .statistics.reduce(
      (sum, { beforeGC, afterGC }) =>
        sum + beforeGC.heapStatistics.usedHeapSize - afterGC.heapStatistics.usedHeapSize,
      0,
    )
  collected = undefined
  return inUse + freed - before.heapBytes
}

function end() {
  isDetailed = false
  const { commits, frames, flushes } = counts
  const taken = collected
    ? { turns: turns() - before.turns, heapBytes: allocated() }
    : { commits, frames, flushes, functions: takeFunctions(), ...lists() }
  return { type: 'end', ...taken }
}

function lists() {
  const toList = (map) => Array.from(map, ([key, { count, bytes }]) => [key, count, bytes])
  const { statements, promises, parsed, produced } = counts
  return {
    statements: toList(statements),
    promises: toList(promises),
    parsed: toList(parsed),
    produced: toList(produced),
  }
}

if (isMainThread && process.send) {
  countAll()
  process.on('message', (message) => {
    if (message?.type === 'begin') {
      begin(message)
      process.send({ type: 'begin' })
    } else if (message?.type === 'end') process.send(end())
  })
}
