"""Plans into running operators: a family of nodes a file."""

from engine.rendering.renderer import Renderer

__all__ = ["Renderer"]
