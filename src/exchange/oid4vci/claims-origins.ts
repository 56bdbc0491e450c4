/**
 * The origins of the claims of a credential. The settings of a configuration name them. Without any origin in
 * the settings, it is the offer, then the log-in, then the claims source. Only the settings take a claim from
 * a presentation. A claim has one origin.
 */
import { isJsonObject, setMember } from '../../foundation/json.ts'
import { Problem } from '../../foundation/problem.ts'
import type { CredentialData } from '../issuance/model.ts'
import { claimsOf } from './claims.ts'
import { settingsOf } from './configuration-settings.ts'
import type { ConfigurationRow } from './configurations.ts'
import { documentOf } from './documents.ts'

type Claims = CredentialData['claims']
type Configuration = Pick<ConfigurationRow, 'claims' | 'document' | 'settings'>
type Names = readonly string[]

/**
 * What the agent knows of the claims before it asks the source: those of the offer, of the log-in and of the
 * presentation.
 */
export type Known = {
  offered: Claims
  identity?: { claims: Claims } | undefined
  presented?: { claims: Claims } | undefined
}

/** A claim that the source may give: its path in the credential, and in the answer. */
export type Wanted = { path: Names; as: Names }

/** A claim that has another origin than the offer, by its path there. */
type Rule = {
  path: Names
  logIn?: Names
  presentation?: Names
  source?: Names
  value?: Claims[string] | undefined
}

/** The claims that are known, and those that the source may fill. */
export function originsOf(
  configuration: Configuration,
  { offered, identity, presented }: Known,
): { known: Claims; wanted: Wanted[] } {
  let known = offered
  const wanted: Wanted[] = []
  for (const { path, logIn, presentation, source, value } of rulesOf(configuration)) {
    if (valueAt(offered, path) !== undefined) continue
    const found =
      value ??
      (logIn && valueAt(identity?.claims, logIn)) ??
      (presentation && valueAt(presented?.claims, presentation))
    if (found !== undefined) known = mergeClaims(known, atPath(path, found))
    else if (source) wanted.push({ path, as: source })
  }
  return { known, wanted }
}

function rulesOf(configuration: Configuration): Rule[] {
  const isFlat = documentOf(configuration)?.namespaces !== undefined
  const settings = decidingSettings(configuration)
  if (!settings)
    return claimsOf(configuration).map(({ name, namespace }) => {
      const path = namespace === undefined || isFlat ? [name] : [namespace, name]
      return { path, logIn: [name], source: path }
    })
  return settings.map(({ path: all, as, from, value }) => {
    // Settings name the namespace of an element in any case.
    const path = namesIn(isFlat ? all.slice(1) : all)
    const there = as ? namesIn(as) : path
    return {
      path,
      value,
      ...(from === 'log-in' && { logIn: there }),
      ...(from === 'presentation' && { presentation: there }),
      ...(from === 'source' && { source: there }),
    }
  })
}

/** The settings with an origin. Undefined: there is none. */
function decidingSettings(configuration: Configuration) {
  const { claims = [] } = settingsOf(configuration)
  const deciding = claims.filter(({ from, value }) => from !== undefined || value !== undefined)
  return deciding.length > 0 ? deciding : undefined
}

/** The whole array belongs to a path with an index. */
function namesIn(path: readonly (string | number | null)[]): string[] {
  const end = path.findIndex((part) => typeof part !== 'string')
  return (end === -1 ? path : path.slice(0, end)) as string[]
}

/** @throws {Problem} 400 for a claim of an offer that has another origin */
export function checkOrigins(configuration: Configuration, offered: Claims): void {
  if (!decidingSettings(configuration)) return
  const foreign = rulesOf(configuration).find(({ path }) => valueAt(offered, path) !== undefined)
  if (!foreign) return
  throw new Problem(
    'BadRequest',
    `claims.${foreign.path.join('.')}: the configuration says where this claim comes from, and that is not the offer. Leave it out.`,
  )
}

/** The claims of a credential, of which the source has given some. */
export function withAnswer(known: Claims, answered: Claims, wanted: readonly Wanted[]): Claims {
  let claims = known
  for (const { path, as } of wanted) {
    const value = valueAt(answered, as)
    if (value !== undefined) claims = mergeClaims(claims, atPath(path, value))
  }
  return claims
}

export function valueAt(claims: Claims | undefined, [name, ...rest]: Names): Claims[string] | undefined {
  const value = claims && Object.hasOwn(claims, name!) ? claims[name!] : undefined
  if (rest.length === 0 || value === undefined) return value
  return isClaims(value) ? valueAt(value, rest) : undefined
}

function atPath([name, ...rest]: Names, value: Claims[string]): Claims {
  const object: Claims = {}
  setMember(object, name!, rest.length === 0 ? value : atPath(rest, value))
  return object
}

/** Claims of two origins, whose objects are joined. */
export function mergeClaims(claims: Claims, others: Claims): Claims {
  const all = { ...claims }
  for (const [name, value] of Object.entries(others)) {
    const own = Object.hasOwn(all, name) ? all[name] : undefined
    setMember(all, name, isClaims(own) && isClaims(value) ? mergeClaims(own, value) : value)
  }
  return all
}

const isClaims = (value: unknown): value is Claims => isJsonObject(value)

/** A schema for a part of the claims, since the source adds others: it requires none. */
export function ofPart(schema: unknown): unknown {
  if (!isJsonObject(schema)) return schema
  const { required: _, properties, ...rest } = schema
  if (!isJsonObject(properties)) return rest
  return {
    ...rest,
    properties: Object.fromEntries(
      Object.entries(properties).map(([name, property]) => [name, ofPart(property)]),
    ),
  }
}
