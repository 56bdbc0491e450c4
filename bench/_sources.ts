/** Maps positions in built files to positions in the sources, by the source maps beside them. */
import { existsSync, readFileSync } from 'node:fs'
import { Module, SourceMap } from 'node:module'
import { fileURLToPath } from 'node:url'

/** A position in a built file; line and column begin at 0. `url` is a URL or a path. */
export type Place = { url: string; line: number; column: number }
/** A position in a source; the line begins at 1. */
export type Source = { path: string; line: number }

/** Returns a function that finds the source of a position: the built file itself if it has no map. */
export function openSources(): (place: Place) => Source {
  const maps = new Map<string, SourceMap | undefined>()
  const known = new Map<string, Source>()
  const mapOf = (path: string) => {
    if (!maps.has(path)) maps.set(path, readMap(`${path}.map`))
    return maps.get(path)
  }
  return ({ url, line, column }) => {
    const key = `${url}:${line}:${column}`
    let source = known.get(key)
    if (!source) {
      const path = toPath(url)
      const entry = mapOf(path)?.findEntry(line, column)
      source =
        entry && 'originalSource' in entry
          ? { path: entry.originalSource, line: entry.originalLine + 1 }
          : { path, line: line + 1 }
      known.set(key, source)
    }
    return source
  }
}

function readMap(path: string): SourceMap | undefined {
  return existsSync(path) ? new SourceMap(JSON.parse(readFileSync(path, 'utf8'))) : undefined
}

export function toPath(url: string): string {
  return url.startsWith('file:') ? fileURLToPath(url) : url
}

/** The bundle that `bin/load.cjs` compiles with the wrapper of CommonJS, which V8's offsets include. */
const wrapper = Module.wrap('\n').split('\n')[0]!
const wrapped = /\/dist\/daemon\/agent\.cjs$/

/** Returns a function that converts V8's offset in a built file to a position. */
export function openOffsets(): (url: string, offset: number) => Place {
  const starts = new Map<string, number[]>()
  return (url, offset) => {
    if (!starts.has(url)) starts.set(url, lineStarts(readFileSync(toPath(url), 'utf8')))
    const lines = starts.get(url)!
    const at = Math.max(0, wrapped.test(url) ? offset - wrapper.length : offset)
    let [low, high] = [0, lines.length - 1]
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      if (lines[middle]! <= at) low = middle
      else high = middle - 1
    }
    return { url, line: low, column: at - lines[low]! }
  }
}

function lineStarts(text: string): number[] {
  const starts = [0]
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
  return starts
}
