import { describe, expect, it } from 'vitest';
import { type Access, bindingOf, type Binding, isOpenTo, lostPart, shutOut } from './binding.js';
import type { BoundCall } from './call.js';
import { defaultPolicy } from './policy.js';

const binding: Binding = { tenant: 't1', subject: 'user-1', requester: 'agent-1', serverDigest: 'sha256:a', policyVersion: '7' };
const registered = { digest: 'sha256:a', policy: { version: '7' } };

describe('lostPart', () => {
  it('finds nothing while everything is as it was', () => {
    expect(lostPart(binding, registered)).toBeUndefined();
    expect(lostPart(binding, { ...registered, access: { tenants: ['t2', 't1'], subjects: ['user-1'] } })).toBeUndefined();
  });

  it('names a registration that is gone or another one', () => {
    expect(lostPart(binding, undefined)).toBe('server_changed');
    expect(lostPart(binding, { ...registered, digest: 'sha256:b' })).toBe('server_changed');
  });

  it('names another version of the policy: also the first one, and none any more', () => {
    const { policyVersion: _, ...unversioned } = binding;
    expect(lostPart(binding, { ...registered, policy: { version: '8' } })).toBe('policy_changed');
    expect(lostPart(binding, { ...registered, policy: {} })).toBe('policy_changed');
    expect(lostPart(unversioned, registered)).toBe('policy_changed');
    expect(lostPart(unversioned, { ...registered, policy: {} })).toBeUndefined();
  });

  it.each<[string, Access]>([
    ['the tenant', { tenants: ['t2'] }],
    ['the subject', { subjects: ['agent-1'] }],
    ['the requester', { requesters: ['user-1'] }],
    ['anybody', { tenants: [] }],
    ['one of them', { tenants: ['t1'], subjects: ['user-1'], requesters: ['agent-2'] }],
  ])('names a principal when %s is not listed', (_what, access) => {
    expect(lostPart(binding, { ...registered, access })).toBe('principal_not_allowed');
  });
});

describe('bindingOf', () => {
  const call = { ...binding, policy: defaultPolicy } as unknown as BoundCall;

  it('takes the version from the policy that the call was started with, if that has one', () => {
    expect(bindingOf({ ...call, policy: { ...defaultPolicy, version: '7' } })).toEqual(binding);
    expect(bindingOf(call)).not.toHaveProperty('policyVersion');
  });
});

describe('access', () => {
  it('compares exact ids: an id is no pattern, and other members are not asked', () => {
    const access = { tenants: ['*', 'T1'] };
    expect(isOpenTo(access, 't1')).toBe(false);
    expect(isOpenTo({ subjects: ['nobody'] }, 't1')).toBe(true);
    expect(shutOut(access, binding)).toBe('tenant');
    expect(shutOut({}, binding)).toBeUndefined();
    expect(shutOut(undefined, binding)).toBeUndefined();
  });
});
