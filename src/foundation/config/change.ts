/** Changes one setting in a configuration file, or in the settings of a profile. */
import { readFileSync, realpathSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import * as yaml from 'yaml'
import { parseJson, withoutMark } from '../json.ts'
import { replaceFile, writePrivateFile } from '../private-files.ts'
import { systemReason } from '../system-reason.ts'
import { StartError } from '../start-error.ts'
import { variables } from './config.ts'
import { formOf } from './file.ts'
import { isSettingName, locating, secretFiles } from './setting-names.ts'
import { toKept } from './settings.ts'

/** Why a name, or a value of it, cannot be stored, as a predicate; undefined when it can. */
export function findFault(name: string, text: string | undefined): string | undefined {
  if (locating.includes(name) && name !== 'AGENT_CONFIG_FILE')
    return 'locates the settings, and cannot be one of them'
  if (!isSettingName(name)) return secretFiles.has(name) ? undefined : 'is not the name of a setting'
  return text === undefined ? undefined : variables[name].safeParse(text).error?.issues[0]?.message
}

/** The value as files write it: numbers, true and false without quotes, absolute paths. */
function toMember(name: string, text: string, isYaml: boolean): unknown {
  const form = isSettingName(name) ? formOf(name) : 'text'
  switch (form) {
    case 'flag':
      return /^(?:true|1)$/i.test(text)
    case 'number':
      return Number(text)
    case 'duration':
      return /^\d+$/.test(text) ? Number(text) : text
    case 'list':
      return isYaml && text.includes(',') ? text.split(',').map((each) => each.trim()) : text
    default:
      return /_(?:DIR|FILE)$/.test(name) ? resolve(text) : toKept(name, text)
  }
}

/**
 * Sets a setting in a file, or removes it without `text`. Comments and the order of a YAML file stay. False
 * when the file did not have the setting to remove.
 *
 * @param path of a file that can be read as settings, or of none
 * @throws {StartError} when the file cannot be written
 */
export function changeSetting(path: string, name: string, text: string | undefined): boolean {
  try {
    const file = realPath(path)
    const before = file === undefined ? '{}' : readFileSync(file, 'utf8')
    const after = /\.json$/i.test(path) ? changeJson(before, name, text) : changeYaml(before, name, text)
    if (after === undefined) return false
    if (file === undefined) writePrivateFile(path, after)
    else replaceFile(file, after, statSync(file).mode & 0o777)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error
    throw new StartError(`${path} cannot be written: ${systemReason(error)}.`, 5, { cause: error })
  }
}

function changeJson(before: string, name: string, text: string | undefined): string | undefined {
  const members = parseJson(withoutMark(before)) as Record<string, unknown>
  if (text !== undefined) members[name] = toMember(name, text, false)
  else if (!Object.hasOwn(members, name)) return undefined
  else delete members[name]
  return `${JSON.stringify(members, null, 2)}\n`
}

function changeYaml(before: string, name: string, text: string | undefined): string | undefined {
  const document = yaml.parseDocument(before)
  if (text !== undefined) document.set(name, toMember(name, text, true))
  else if (!document.delete(name)) return undefined
  return document.toString({ lineWidth: 0 })
}

/** The file behind symbolic links; undefined when there is none. */
function realPath(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
