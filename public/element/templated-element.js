// @ts-check
/** An element whose rows and headers the page makes: by templates among its children, or by functions. */

import { FollowingElement } from "./following-element.js";
import { Recipes } from "./recipe.js";

export class TemplatedElement extends FollowingElement {
  /** @protected */
  recipes = new Recipes(this);

  /**
   * Called when a setting has changed and the rows must be drawn again.
   *
   * @protected
   */
  redrawSoon() {}

  /** Called with a row's element, the row and its place, when it is first shown and whenever its values change. */
  get renderRow() {
    return this.recipes.renderRow;
  }

  set renderRow(render) {
    this.recipes.renderRow = render;
    this.redrawSoon();
  }

  /** Called with a header's element and the section, when it is first shown and whenever its count changes. */
  get renderSection() {
    return this.recipes.renderSection;
  }

  set renderSection(render) {
    this.recipes.renderSection = render;
    this.redrawSoon();
  }

  /** Used in place of the template among the children. */
  get rowTemplate() {
    return this.recipes.rowTemplate;
  }

  set rowTemplate(template) {
    this.recipes.rowTemplate = template;
    this.redrawSoon();
  }

  /** Used in place of the template for sections among the children. */
  get sectionTemplate() {
    return this.recipes.sectionTemplate;
  }

  set sectionTemplate(template) {
    this.recipes.sectionTemplate = template;
    this.redrawSoon();
  }
}
