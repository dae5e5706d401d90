/** What the indexes of everything that is open call an entry: `<tenant>/<id>`, of an invocation its workflow's id. */

/** @param id of an invocation or a consent: it holds no slash, a tenant might */
export function openName(tenant: string, id: string): string {
  return `${tenant}/${id}`;
}

export function partsOf(name: string): { readonly tenant: string; readonly id: string } {
  const slash = name.lastIndexOf('/');
  return { tenant: name.slice(0, Math.max(slash, 0)), id: name.slice(slash + 1) };
}
