/**
 * The configuration as `agent config` shows it. The command line loads this file as a bundle of its own, when
 * it is needed.
 */
import { variables } from './config.ts'
import type { Source } from './fault.ts'
import type { Inspected } from './configure.ts'
import { Secret } from '../secret.ts'
import { isSecret, typeOf, type Name } from './setting-names.ts'

export { changeSetting, findFault } from './change.ts'
export { configSchema } from './schema.ts'
export { configure, inspect } from './configure.ts'
export {
  findUnknownVariables,
  isSecret,
  isSettingName,
  nearestSetting,
  secretFiles,
  settingNames,
} from './setting-names.ts'

export type Row = {
  name: string
  /** In the form of an environment variable; a secret as `***`; null when it is not set and has no default. */
  value: string | null
  source: Source
  path?: string | undefined
  secretFile?: string | undefined
  default: string | null
  description: string
}

const hidden = '***'

/** All settings in the order of the documentation. */
export function toRows({ config, values, layerOf }: Inspected): Row[] {
  return (Object.keys(variables) as Name[]).map((name) => {
    const { source = 'default', path, values: own = {} } = layerOf(name) ?? {}
    const standard = defaultText(name)
    const value = values[name] ?? standard
    const secretFile = own[name] === undefined ? own[`${name}_FILE`] : undefined
    return {
      name,
      value: value !== null && (isSecret(name) || config?.[name] instanceof Secret) ? hidden : value,
      source,
      ...(path !== undefined && { path }),
      ...(isSecret(name) && secretFile !== undefined && { secretFile }),
      default: standard,
      description: variables[name].description ?? '',
    }
  })
}

/** The default of a setting in the form of an environment variable; null when it has none. */
export function defaultText(name: Name): string | null {
  const type = variables[name]
  if (typeOf(name) === type) return null
  const data = type.safeParse(undefined).data as string | number | boolean | string[] | undefined
  return data === undefined ? null : String(data)
}
