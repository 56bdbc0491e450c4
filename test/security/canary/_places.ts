/** The places that are searched for secrets, and the secrets. */
import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Canary } from './_sweep.ts'

/** Everything written, sent or displayed, by the name of the place. */
export type Places = Record<string, Uint8Array | string>

export const newSecret = () => randomBytes(32).toString('base64url')

/** All files below a folder, by their names there. */
export function filesIn(folder: string, name: string): Places {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) =>
    statSync(join(folder, path)).isFile(),
  )
  return Object.fromEntries(
    paths.map((path) => [
      `${name}/${path.replace(/(master\.key)\.2.*$/, '$1.<date>')}`,
      readFileSync(join(folder, path)),
    ]),
  )
}

/** Data of a process that other processes can read. */
export function processPlaces(pid: number, name: string): Places {
  const of = (file: string) => readFileSync(`/proc/${pid}/${file}`)
  return { [`${name}: command line`]: of('cmdline'), [`${name}: environment`]: of('environ') }
}

/** Secrets as texts and bytes, and the other secrets of a folder. */
export function withThoseOf(texts: Record<string, string>, inFolder: readonly Canary[]): Canary[] {
  const given = Object.entries(texts).flatMap(([name, value]): Canary[] => {
    const bytes = /^[0-9a-f]{100,}$/.test(value)
      ? Buffer.from(value, 'hex')
      : Buffer.from(value.replace('whsec_', ''), 'base64url')
    return value.includes(' ')
      ? [{ name, value }]
      : [
          { name, value },
          { name, value: bytes },
        ]
  })
  const has = (value: Canary['value'], known: Canary['value']) =>
    typeof value === 'string'
      ? typeof known === 'string' && value.includes(known)
      : Buffer.from(value).equals(Buffer.from(known as Uint8Array))
  return [...given, ...inFolder.filter(({ value }) => !given.some((known) => has(value, known.value)))]
}
