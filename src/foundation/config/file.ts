/**
 * Configuration files: settings by the names of variables, in JSON or YAML. They have values of the types of
 * JSON, where the environment has texts: `{ "AGENT_HTTP_PORT": 9085, "AGENT_MEDIATOR": true,
 * "AGENT_ALLOW_HOSTS": ["hooks.example"] }`.
 */
import { dirname, resolve } from 'node:path'
import * as z from 'zod'
import * as yaml from 'yaml'
import { variables } from './config.ts'
import type { Fault } from './fault.ts'
import {
  didMethods,
  flag,
  hosts,
  lifetime,
  namedHosts,
  origins,
  ports,
  seconds,
  tokenAlgorithms,
} from './values.ts'
import { isJsonObject, JsonError, parseJson } from '../json.ts'
import {
  isSettingName,
  locating,
  nearestSetting,
  ofCommands,
  secretFiles,
  typeOf,
  type Name,
  whyRemoved,
} from './setting-names.ts'
import type { Settings } from './settings.ts'
import { FileFault, readSmallFile } from '../small-file.ts'

const maxBytes = 1_048_576

/** How a file writes a setting. */
export type Form = 'flag' | 'number' | 'duration' | 'list' | 'text'

const lists: readonly z.ZodType[] = [didMethods, hosts, namedHosts, origins, ports, tokenAlgorithms]

export function formOf(name: Name): Form {
  const type = typeOf(name)
  if (type === flag) return 'flag'
  if (type === seconds || type === lifetime) return 'duration'
  if (lists.includes(type)) return 'list'
  return type instanceof z.ZodNumber ? 'number' : 'text'
}

/**
 * Reads a configuration file: JSON if its name ends in `.json`, otherwise YAML 1.2, of which JSON is a part.
 * Relative paths in it start at its folder.
 *
 * @param path absolute
 * @returns the valid settings in the form of environment variables, and all that is wrong
 */
export function readConfigFile(path: string): { values: Settings; faults: Fault[] } {
  const faults: Fault[] = []
  const values: Record<string, string> = {}
  for (const [name, value] of Object.entries(readObject(path, faults))) {
    if (name === '$schema') continue
    if (whyRemoved(name) !== undefined) {
      values[name] = String(value)
      continue
    }
    const text = toText(name, value)
    const wrong = typeof text === 'object' ? text : findWrong(name, text)
    if (wrong) faults.push({ name: shortenName(name), source: 'file', path, ...wrong })
    else if (typeof text === 'string') values[name] = toAbsolute(name, text, dirname(path))
  }
  return { values, faults }
}

/** The object in a file; without members if it is not valid. */
function readObject(path: string, faults: Fault[]): Record<string, unknown> {
  try {
    const text = decode(readSmallFile(path, maxBytes))
    if (text.trim() === '') throw new FileFault('is empty')
    const value = /\.json$/i.test(path) ? parseJson(text) : parseYaml(text)
    if (isJsonObject(value)) return value
    throw new FileFault('is not an object of settings such as {"AGENT_HTTP_PORT": 9085}')
  } catch (error) {
    if (!(error instanceof FileFault || error instanceof JsonError)) throw error
    faults.push({ source: 'file', path, reason: error.message })
    return {}
  }
}

/** @throws {FileFault} */
function decode(bytes: Buffer): string {
  try {
    // Drops a byte order mark, which editors on Windows write.
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new FileFault('is not UTF-8')
  }
}

/**
 * Reads one YAML document without aliases, of which a few can stand for gigabytes. A document of comments has
 * no settings.
 *
 * @throws {FileFault}
 */
function parseYaml(text: string): unknown {
  const lines = new yaml.LineCounter()
  let document: yaml.Document.Parsed
  let value: unknown
  try {
    document = yaml.parseDocument(text, { prettyErrors: false, lineCounter: lines, logLevel: 'error' })
    value = document.toJS({ maxAliasCount: 0 })
  } catch (error) {
    // The parser is recursive, and its messages quote the text.
    throw new FileFault(error instanceof RangeError ? 'is nested too deeply' : 'is not YAML without aliases')
  }
  const [fault] = [...document.errors, ...document.warnings]
  if (!fault) return value ?? {}
  const { line, col } = lines.linePos(fault.pos[0])
  const what = yamlFaults[fault.code] ?? 'is not valid YAML'
  throw new FileFault(`${what} at line ${line}, column ${col}`)
}

/** Errors of the parser, whose own messages quote the text. */
const yamlFaults: Readonly<Record<string, string>> = {
  DUPLICATE_KEY: 'names a setting twice',
  MULTIPLE_DOCS: 'has a second document',
  TAG_RESOLVE_FAILED: 'has a tag',
  TAB_AS_INDENT: 'is indented with a tab',
}

type Wrong = { reason: string; remedy?: string }

/** The value in the form of an environment variable, or why it is not of the right type. */
function toText(name: string, value: unknown): string | Wrong {
  if (locating.includes(name))
    return {
      reason: 'locates the settings, and cannot be one of them',
      remedy: 'Set it in the environment or by a flag.',
    }
  if (ofCommands.includes(name)) return { reason: 'is of the command line, and not a setting of a daemon' }
  const form = isSettingName(name) ? formOf(name) : secretFiles.has(name) ? 'text' : undefined
  if (form === undefined) {
    const near = nearestSetting(name)
    const remedy = near === undefined ? '`agent config show --all` lists the names.' : `Did you mean ${near}?`
    return { reason: 'is not the name of a setting', remedy }
  }
  if (value === null || value === '')
    return { reason: 'has no value', remedy: 'Remove the line for the default.' }
  return toTextOf[form](value) ?? { reason: `must be ${words[form]}, and is ${typeWord(value)}` }
}

/** Writes a value of a form as text; undefined for a value of another type. */
const toTextOf: Readonly<Record<Form, (value: unknown) => string | undefined>> = {
  flag: (value) => (typeof value === 'boolean' ? String(value) : undefined),
  number: (value) => (typeof value === 'number' ? String(value) : undefined),
  duration: (value) => (typeof value === 'number' || typeof value === 'string' ? String(value) : undefined),
  text: (value) => (typeof value === 'string' ? value : undefined),
  list: (value) => {
    if (typeof value === 'string') return value
    const isEntry = (each: unknown) =>
      typeof each === 'number' || (typeof each === 'string' && /^[^,]+$/.test(each))
    return Array.isArray(value) && value.length > 0 && value.every(isEntry) ? value.join(',') : undefined
  },
}

const words: Readonly<Record<Form, string>> = {
  flag: 'true or false, without quotes',
  number: 'a whole number, without quotes',
  duration: 'a number of seconds or a text such as "5m"',
  text: 'a text, in quotes',
  list: 'a list of texts, or a text with commas',
}

function typeWord(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list'
  const named: Record<string, string> = { string: 'a text', number: 'a number', object: 'an object' }
  return named[typeof value] ?? 'true or false'
}

function findWrong(name: string, text: string): Wrong | undefined {
  if (!isSettingName(name)) return undefined
  const [issue] = variables[name].safeParse(text).error?.issues ?? []
  return issue && { reason: issue.message }
}

function toAbsolute(name: string, text: string, folder: string): string {
  if (/_(?:DIR|FILE)$/.test(name)) return resolve(folder, text)
  return name === 'VDR_URL'
    ? text.replace(/^sqlite:(.+)$/s, (_, path: string) => `sqlite:${resolve(folder, path)}`)
    : text
}

/** A name that a person has typed, and that may be anything. */
function shortenName(name: string): string {
  return JSON.stringify(name.slice(0, 100)).slice(1, -1)
}
