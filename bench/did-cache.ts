/**
 * Resolving DIDs that are cached and DIDs that are not. The servers are in this process, so half of the cost
 * of a request is theirs.
 */
import { startServer } from '../test/support/server.ts'
import { startAgent } from '../test/support/agent.ts'
import { create } from '../test/did/prism/_make.ts'
import { toLongForm } from '../src/did/prism/did.ts'
import { encodeOperation } from '../src/did/prism/operations.ts'
import { createResolver } from '../src/did/resolver.ts'
import { publishNewDid } from './did.ts'
import { together, type Suites, type Work } from './_harness.ts'

/** More DIDs than a resolver caches, so that none of them is found in the cache. */
const many = 3_000

const longForms = Array.from({ length: many }, (_, n) => {
  const services = [{ id: 'service-1', type: 'LinkedDomains', serviceEndpoint: `https://example.com/${n}` }]
  return toLongForm(encodeOperation(create({ services })))
})

/** Long forms, without a ledger and with a ledger file that could contain them. */
async function openLongForms(): Promise<Suites> {
  const { agent, ...started } = await startAgent()
  const alone = createResolver({ getState: () => Promise.resolve(undefined) })
  let at = 0
  const next = () => longForms[at++ % many]!
  const suites = {
    'Resolve a long-form did:prism': [
      { name: 'cold', once: () => alone.resolve(next()) },
      { name: 'from the cache', once: () => alone.resolve(longForms[0]!) },
    ],
    'Resolve a long-form did:prism, the ledger’s file being asked whether it is published': [
      { name: 'cold', once: () => agent.env.resolver.resolve(next()) },
      { name: 'from the cache', once: () => agent.env.resolver.resolve(longForms[0]!) },
    ],
  }
  return { suites, [Symbol.asyncDispose]: () => started[Symbol.asyncDispose]() }
}

/** A host of did:web documents, and an agent that reads it over loopback. */
async function openWeb(): Promise<Suites> {
  const server = await startServer((_, response) => response.writeHead(200).end(JSON.stringify(document)))
  const { agent, ...started } = await startAgent()
  const did = `did:web:localhost%3A${server.port}:alice`
  const method = {
    id: `${did}#key-1`,
    type: 'Multikey',
    controller: did,
    publicKeyMultibase: 'z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',
  }
  const document = {
    id: did,
    verificationMethod: [method],
    authentication: [method.id],
    assertionMethod: [method.id],
  }
  const suites = { 'Resolve a did:web over loopback': coldAndKept(agent.env.resolver, did) }
  return { suites, [Symbol.asyncDispose]: together([server, started]) }
}

/** An agent that serves its ledger, and one that uses it. */
async function openElsewhere(): Promise<Suites> {
  const { agent: owner, url, ...first } = await startAgent()
  await owner.worker[Symbol.asyncDispose]()
  const [walletId] = await owner.wallets.ids()
  const did = await owner.wallets.use(walletId!, publishNewDid)
  const { agent, ...second } = await startAgent({ VDR_URL: url })
  const suites = {
    'Resolve a did:prism by the ledger of another agent': coldAndKept(agent.env.resolver, did),
  }
  return { suites, [Symbol.asyncDispose]: together([first, second]) }
}

function coldAndKept(resolver: ReturnType<typeof createResolver>, did: string): Work[] {
  const resolve = async () => {
    const { didDocument, didResolutionMetadata } = await resolver.resolve(did)
    if (!didDocument) throw new Error(`${did} does not resolve: ${didResolutionMetadata.message}`)
  }
  const askAgain = () => {
    resolver.invalidate(did)
    return resolve()
  }
  return [
    { name: 'cold', once: askAgain },
    { name: 'from the cache', once: resolve },
  ]
}

/** All suites of this file. */
export async function openCacheSuites(): Promise<Suites> {
  const opened = [await openLongForms(), await openWeb(), await openElsewhere()]
  return {
    suites: Object.assign({}, ...opened.map(({ suites }) => suites)) as Suites['suites'],
    [Symbol.asyncDispose]: together(opened),
  }
}
