/**
 * The DID methods: what settings, tables, texts and the command line need to know of them. Pure data, which
 * every folder may import. `methods.ts` has their documents, `did-registrar/methods.ts` what wallets do with
 * their DIDs.
 */
/** The purposes of keys in documents, and the curves of keys that wallets create. */
export const purposes = [
  'authentication',
  'assertionMethod',
  'keyAgreement',
  'capabilityInvocation',
  'capabilityDelegation',
] as const
export const curves = ['secp256k1', 'Ed25519', 'X25519', 'P-256'] as const
type Curve = (typeof curves)[number]

export type MethodFacts = {
  /**
   * Where a document is: in the DID itself, at a host, or on the ledger. Only a ledger takes time, and may be
   * without the DID.
   */
  kind: 'self' | 'fetched' | 'ledger'
  /** The DIDs, if they have a short and a long form. The first group is the short form. */
  forms?: RegExp
  /** Wallets create DIDs of the method. Absent: they do not, and no such DID belongs to a wallet. */
  managed?: {
    curves: readonly Curve[]
    /** The DID is one key, which serves all purposes, and cannot change. */
    isKey?: true
    /** The DID may publish schemas and credential definitions. */
    isAuthor?: true
    /** Its creator chooses the last part. */
    hasName?: true
  }
}

export const keyCurves = ['P-256', 'secp256k1', 'Ed25519'] as const
const ledgerCurves = ['secp256k1', 'Ed25519', 'X25519'] as const

export const facts = {
  prism: {
    kind: 'ledger',
    forms: /^(did:prism:[0-9a-f]{64})(?::[A-Za-z0-9_-]+)?$/,
    managed: { curves: ledgerCurves, isAuthor: true },
  },
  peer: { kind: 'self' },
  key: { kind: 'self', managed: { curves: keyCurves, isKey: true, isAuthor: true } },
  jwk: { kind: 'self', managed: { curves: keyCurves, isKey: true, isAuthor: true } },
  web: { kind: 'fetched', managed: { curves: [...ledgerCurves, 'P-256'], isAuthor: true, hasName: true } },
} as const satisfies Record<string, MethodFacts>

export type DidMethodName = keyof typeof facts
type NamesWith<Fact> = {
  [Name in DidMethodName]: (typeof facts)[Name] extends Fact ? Name : never
}[DidMethodName]
export type ManagedName = NamesWith<{ managed: object }>
export type KeyMethodName = NamesWith<{ managed: { isKey: true } }>

const namesWith = <Name extends DidMethodName>(fits: (method: MethodFacts) => unknown) =>
  (Object.keys(facts) as Name[]).filter((name) => fits(facts[name]))

export const methodNames = namesWith<DidMethodName>(() => true)
export const selfMethods = namesWith<DidMethodName>(({ kind }) => kind === 'self')
export const ledgerMethods = namesWith<ManagedName>(({ kind }) => kind === 'ledger')
export const fetchedMethods = namesWith<ManagedName>(({ kind }) => kind === 'fetched')
export const authorMethods = namesWith<ManagedName>(({ managed }) => managed?.isAuthor)
export const namedMethods = namesWith<ManagedName>(({ managed }) => managed?.hasName)
/** Methods whose DIDs have a document that a wallet writes. */
export const writtenMethods = namesWith<ManagedName>(({ managed }) => managed && !managed.isKey)
export const keyMethods = namesWith<KeyMethodName>(({ managed }) => managed?.isKey)
/** The methods whose DIDs wallets create. */
export const managedMethods: ManagedName[] = [...writtenMethods, ...keyMethods]
/** The method of a new DID, unless its creator names another. */
export const usualMethod = 'prism' satisfies ManagedName

/** The name of a DID's method, known here or not. Undefined for a text that is not a DID. */
export function methodOf(did: string): string | undefined {
  return /^did:([a-z0-9]+):/.exec(did)?.[1]
}

export function factsOf(did: string): MethodFacts | undefined {
  const name = methodOf(did)
  return name !== undefined && Object.hasOwn(facts, name) ? facts[name as DidMethodName] : undefined
}

/** The form of a DID to compare with: the short form if it has one, any other DID unchanged. */
export function canonicalDid(did: string): string {
  return factsOf(did)?.forms?.exec(did)?.[1] ?? did
}

/** Whether a DID is a did:peer, whose document names where its owner receives messages. */
export function isPeerDid(did: string): boolean {
  return methodOf(did) === 'peer'
}

/** Names methods in a text: `did:prism, did:web or did:key`. */
export function namesOf(methods: readonly string[], conjunction: 'and' | 'or' = 'or'): string {
  const names = methods.map((method) => `did:${method}`)
  return [names.slice(0, -1).join(', '), names.at(-1)].filter(Boolean).join(` ${conjunction} `)
}

const formed = namesWith(({ forms }) => forms)

/** How the path or argument that names a DID of a wallet is described. */
export const ownDidText = `a DID of this wallet; a ${namesOf(formed)} in its short or long form`

export const authorText = authorMethods
  .map(
    (name) =>
      `a did:${name} of the wallet${formed.includes(name) ? ' (published or not, short or long form)' : ''}`,
  )
  .join(', or ')
