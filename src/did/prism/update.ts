/** The actions of a did:prism update (PRISM DID Method, "Update DID"). They apply in order, all or none. */
import { InvalidOperation, type PrismService, type UpdateAction } from './model.ts'
import {
  checkContexts,
  checkKey,
  checkService,
  checkServiceEndpoint,
  checkServiceType,
  limits,
  quote,
} from './rules.ts'
import type { DidContent } from './state.ts'

/** Applies the actions of an update. @throws {InvalidOperation} also if no master key is left */
export function applyActions<Content extends DidContent>(
  state: Content,
  actions: readonly UpdateAction[],
): Content {
  const changed = applyToContent(state, actions)
  if (!changed.publicKeys.some(({ usage }) => usage === 'master'))
    throw new InvalidOperation('the update leaves no master key')
  return changed
}

/** The same for a did:web, which needs no master key. */
export function applyToContent<Content extends DidContent>(
  content: Content,
  actions: readonly UpdateAction[],
): Content {
  if (actions.length === 0) throw new InvalidOperation('the update has no action')
  const changed = actions.reduce(applyAction, content)
  const { publicKeys, services } = changed
  if (publicKeys.length > limits.keys)
    throw new InvalidOperation(`the update leaves ${publicKeys.length} keys, more than ${limits.keys}`)
  if (services.length > limits.services)
    throw new InvalidOperation(`the update leaves ${services.length} services, more than ${limits.services}`)
  return changed
}

function applyAction<Content extends DidContent>(state: Content, action: UpdateAction): Content {
  const { publicKeys, services, retiredKeyIds, retiredServiceIds } = state
  switch (action.action) {
    case 'addKey':
      checkKey(action.key)
      if (has(publicKeys, action.key.id) || retiredKeyIds.includes(action.key.id))
        throw new InvalidOperation(`key ${quote(action.key.id)} exists or existed`)
      return { ...state, publicKeys: [...publicKeys, action.key] }
    case 'removeKey':
      if (!has(publicKeys, action.id))
        throw new InvalidOperation(`there is no active key ${quote(action.id)} to remove`)
      return {
        ...state,
        publicKeys: without(publicKeys, action.id),
        retiredKeyIds: [...retiredKeyIds, action.id],
      }
    case 'addService':
      checkService(action.service)
      if (has(services, action.service.id) || retiredServiceIds.includes(action.service.id)) {
        throw new InvalidOperation(`service ${quote(action.service.id)} exists or existed`)
      }
      return { ...state, services: [...services, action.service] }
    case 'removeService':
      if (!has(services, action.id))
        throw new InvalidOperation(`there is no active service ${quote(action.id)} to remove`)
      return {
        ...state,
        services: without(services, action.id),
        retiredServiceIds: [...retiredServiceIds, action.id],
      }
    case 'updateService':
      if (!has(services, action.id))
        throw new InvalidOperation(`there is no active service ${quote(action.id)} to update`)
      return {
        ...state,
        services: services.map((service) =>
          service.id === action.id ? updateService(service, action) : service,
        ),
      }
    case 'patchContext':
      checkContexts(action.contexts)
      if (action.contexts.length === 0 && state.contexts.length === 0)
        throw new InvalidOperation('there is no context to clear')
      return { ...state, contexts: action.contexts }
  }
}

/** A service after `updateService`. An empty text means unchanged. */
function updateService(
  service: PrismService,
  { type, serviceEndpoint }: UpdateAction & { action: 'updateService' },
): PrismService {
  if (type === '' && serviceEndpoint === '')
    throw new InvalidOperation(`the update of service ${quote(service.id)} changes nothing`)
  if (type !== '') checkServiceType(type)
  if (serviceEndpoint !== '') checkServiceEndpoint(serviceEndpoint)
  return {
    ...service,
    type: type || service.type,
    serviceEndpoint: serviceEndpoint || service.serviceEndpoint,
  }
}

function has(list: readonly { id: string }[], id: string): boolean {
  return list.some((entry) => entry.id === id)
}

function without<T extends { id: string }>(list: readonly T[], id: string): T[] {
  return list.filter((entry) => entry.id !== id)
}
